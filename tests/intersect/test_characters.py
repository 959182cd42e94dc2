"""Accounts and players are converted one by one; unusual values are replaced and listed."""

import re
from typing import Any

from gamekeeper.game.core.player import Stack
from gamekeeper.ground.settings import Settings
from gamekeeper.intersect import accounts, values
from gamekeeper.intersect.catalogue import ClassGrowth, ItemBonus, Vitals
from gamekeeper.intersect.data import Report
from gamekeeper.intersect.players import FullPlayer, PlayerReader, RawBag
from gamekeeper.store.access.roles import Powers
from loops import over

NOUNS = ("users", "players", "inventory", "bank", "bags", "bag_slots", "spells", "variables", "switches")
PATTERN = re.compile("[A-Za-z0-9]{2,20}")


def numbered(kind: str, number: int) -> str:
    return f"{kind * 8}-0000-4000-8000-{number:012}"


ME, OWNER, CLASS, MAP = (numbered("a", number) for number in range(4))
COIN, HELMET, SACK = (numbered("b", number) for number in range(3))
BAGS = [numbered("c", number) for number in range(3)]
STRIKE = numbered("d", 0)
PLAYER = (
    *(ME, OWNER, "Ann", MAP, 1, 2, 0, 3, "ann.png", None, 5, 70, CLASS, 1, 4, "[30,7]", "[1,2,3,4,5]", "[5,4,3,2,1]"),
    *("[0,-1,-1,-1,-1]", "2022-05-01 21:00:00", "1970-01-01 00:00:01", 60),
)


def slot(number: Any, item: Any = COIN, quantity: Any = 1, bag: Any = None, properties: Any = "[0,0,0,0,0]") -> Any:
    return (ME, f"row {number}", number, item, quantity, bag, properties)


def reader(**bags: RawBag) -> PlayerReader:
    vitals = Vitals({CLASS: ClassGrowth((100, 20), (10, 2))}, {HELMET: ItemBonus((10, 0))}, 100)
    types = {COIN: "Integer", SACK: "Boolean"}
    report = Report({noun: noun for noun in NOUNS})
    return PlayerReader(report, Settings(), vitals, {COIN, HELMET, SACK}, {STRIKE}, types, bags)


def convert(read: PlayerReader, *inventory: Any, player: Any = PLAYER, **owned: Any) -> FullPlayer:
    return read.read(player, {"inventory": inventory, **owned}, PATTERN)


def reasons(read: PlayerReader) -> list[tuple[str, bool]]:
    return [(line.reason, line.taken) for line in read.report.entries]


def test_all_fields_of_a_player() -> None:
    read = reader()
    variables = [(ME, "v", COIN, '{"Type":2,"Value":9}')]
    player, world = convert(read, slot(0, HELMET), spells=[(ME, "s", 2, STRIKE)], variables=variables)
    assert read.report.entries == []
    assert (player.id, player.user_id, player.name, player.class_id, player.map_id) == (ME, OWNER, "Ann", CLASS, MAP)
    assert (player.level, player.exp, player.gender, player.stat_points) == (5, 70, 1, 4)
    assert (player.vitals, player.max_vitals) == ((30, 7), (150, 28))
    assert (player.base_stats, player.stat_point_allocations) == ((1, 2, 3, 4, 5), (5, 4, 3, 2, 1))
    assert (player.x, player.y, player.z, player.dir, player.sprite, player.face) == (1, 2, 0, 3, "ann.png", "")
    assert player.equipment == (0, -1, -1, -1, -1)
    assert (player.created_at, player.play_time_seconds, player.last_online) == (1000, 60, 1_651_438_800_000)
    assert world.slots == {("inventory", 0): Stack(HELMET, 1)}
    assert (world.spells, world.variables) == ({2: STRIKE}, {COIN: 9})


@over(
    "row, kept, said, taken",
    (slot(1, quantity=-5), None, "invalid values", False),
    (slot(-1), None, "invalid values", False),
    (slot(1, item="no guid"), None, "invalid values", False),
    (slot(1000), None, "invalid values", False),
    (slot(999), Stack(COIN, 1), "beyond the setting inventory_slots", True),
    (slot(0), None, "slot 0 is used by another row", False),
    (slot(1, quantity=0), Stack(COIN, 1), "its quantity is 0", True),
    (slot(1, item=STRIKE), Stack(STRIKE, 1), "is not in the game data", True),
    (slot(1, properties="?"), Stack(COIN, 1), "its stats cannot be read", True),
    (slot(1, bag=BAGS[0]), Stack(COIN, 1), "is missing: imported without it", True),
)
def test_invalid_slots_are_listed(row: Any, kept: Stack | None, said: str, *, taken: bool) -> None:
    read = reader()
    _, world = convert(read, slot(0, HELMET), row)
    assert world.slots.get(("inventory", row[2]) if row[2] != 0 else ("inventory", -9)) == kept
    ((reason, was_taken),) = reasons(read)
    assert said in reason
    assert was_taken == taken
    count = read.report.counts["inventory"]
    assert (count.taken, count.left) == (1 + (kept is not None), int(kept is None))


def test_bags_in_bags() -> None:
    inside = [slot(3, SACK, bag=BAGS[1])], [slot(9)]
    read = reader(**{BAGS[0]: RawBag(8, inside[0]), BAGS[1]: RawBag(4, inside[1])})
    _, world = convert(read, slot(0, HELMET), bank=[slot(2, SACK, bag=BAGS[0])])
    assert world.slots["bank", 2] == Stack(SACK, 1, BAGS[0])
    assert world.slots[BAGS[0], 3] == Stack(SACK, 1, BAGS[1])
    assert world.slots[BAGS[1], 9] == Stack(COIN, 1)
    assert world.bags == {BAGS[0]: 8, BAGS[1]: 10}
    assert [reason for reason, _ in reasons(read)] == ["slot 9 is beyond the size of its bag, which was enlarged"]
    assert read.report.counts["bags"].taken == 2


@over("said, size", (2**31 - 1, 1000), (1001, 1000), (0, 1), (-4, 1), ("many", 1))
def test_invalid_bag_sizes_are_changed_and_listed(said: Any, size: int) -> None:
    read = reader(**{BAGS[0]: RawBag(said, [slot(0), slot(1000)])})
    _, world = convert(read, slot(0, SACK, bag=BAGS[0]))
    assert world.bags == {BAGS[0]: size}
    notes = [(line.table, line.id, line.reason) for line in read.report.entries if line.taken]
    assert notes == [("bags", BAGS[0], f"its size is {said!r}: changed to {size}")]
    assert read.report.counts["bag_slots"].left == 1


def test_bag_inside_itself_is_read_once() -> None:
    read = reader(
        **{BAGS[0]: RawBag(8, [slot(0, SACK, bag=BAGS[1])]), BAGS[1]: RawBag(8, [slot(0, SACK, bag=BAGS[0])])}
    )
    _, world = convert(read, slot(0, HELMET), slot(1, SACK, bag=BAGS[0]))
    assert world.slots[BAGS[1], 0] == Stack(SACK, 1, None)
    assert "is in another slot or in itself" in reasons(read)[0][0]


@over(
    "place, value, said",
    (10, 0, "its Level is 0: changed to 1"),
    (13, 7, "its Gender is 7: changed to 0"),
    (15, "?", "its Vitals cannot be read"),
    (18, "[0,-1,-1,-1,-1,0]", "it has more than 5 equipped items"),
    (18, "[7,-1,-1,-1,-1]", "an equipped slot is empty"),
    (2, "", "replaced by the id"),
)
def test_invalid_player_fields_are_listed(place: int, value: Any, said: str) -> None:
    read = reader()
    player, _ = convert(read, slot(0, HELMET), player=(*PLAYER[:place], value, *PLAYER[place + 1 :]))
    ((reason, taken),) = reasons(read)
    assert said in reason
    assert taken
    assert player.level >= 1


def test_invalid_spells_are_listed() -> None:
    read = reader()
    rows = [(ME, "1", 0, STRIKE), (ME, "2", 0, STRIKE), (ME, "3", -1, STRIKE), (ME, "4", 99, COIN)]
    rows.append((ME, "5", 1000, STRIKE))
    _, world = convert(read, slot(0, HELMET), spells=rows)
    assert world.spells == {0: STRIKE, 99: COIN}
    assert [line.id for line in read.report.entries] == ["2", "3", "4", "4", "5"]
    assert read.report.counts["spells"].left == 3


@over(
    "variable, raw, kept, said",
    (COIN, '{"Type":1,"Value":true}', None, "its value is a Boolean, but its variable is an Integer"),
    (SACK, '{"Type":2,"Value":1}', None, "its value is an Integer, but its variable is a Boolean"),
    (COIN, '{"Type":2,"Value":null}', None, "its value is missing"),
    (HELMET, '{"Type":2,"Value":3}', 3, "is not in the game data"),
)
def test_invalid_variables_are_listed(variable: str, raw: Any, kept: int | None, said: str) -> None:
    read = reader()
    _, world = convert(read, slot(0, HELMET), variables=[(ME, "v", variable, raw)])
    assert world.variables.get(variable) == kept
    ((reason, taken),) = reasons(read)
    assert said in reason
    assert taken == (kept is not None)
    assert (read.report.counts["variables"].taken, read.report.counts["variables"].left) == (int(taken), int(not taken))


@over(
    "raw, expected",
    ('{"Type":2,"Value":5}', 5),
    ('{"Type":1,"Value": true}', True),
    ('{"Type":3,"Value":"words"}', "words"),
    ('{"Type":3,"Value":null}', None),
    ('{"Type":4,"Value":1.5}', 1.5),
    ('{"Type":0,"Value":null}', None),
    ('{"Type":2,"Value":1.5}', None),
    (f'{{"Type":2,"Value":{2**64}}}', None),
    (f'{{"Type":2,"Value":{-(2**63) - 1}}}', None),
    (-(2**63), -(2**63)),
    (f'{{"Type":4,"Value":{"9" * 400}}}', None),
    ('{"Type":4,"Value":1e999}', None),
    (7, 7),
    ("?", None),
    (None, None),
)
def test_values_of_variables(raw: Any, expected: Any) -> None:
    found = values.parse_scalar(raw)
    assert found == expected
    assert type(found) is type(expected)


ID = "00000000-0000-4000-8000-000000000001"
HASH = "ab" * 32


def read(**changed: Any) -> tuple[accounts.ImportedUser, list[str]]:
    row = {
        "id": ID,
        "name": "Ann",
        "email": "ann@example.test",
        "salt": "SALT",
        "password": HASH,
        "power": "{}",
        "registered": None,
        **changed,
    }
    notes: list[str] = []
    return accounts.read_user(tuple(row.values()), PATTERN, notes.append), notes


def test_ordinary_account_has_no_notes() -> None:
    found, notes = read(registered="1970-01-01 00:00:01")
    assert notes == []
    assert (found.user.name, found.fold, found.email_fold) == ("Ann", "ann", "ann@example.test")
    assert (found.user.password, found.user.created_at) == (f"intersect$SALT${HASH.upper()}", 1000)


@over("changed", {"salt": None}, {"salt": "a\x00b"}, {"password": "short"}, {"password": None})
def test_invalid_password_prevents_login(changed: Any) -> None:
    found, notes = read(**changed)
    assert found.user.password == "!"
    assert notes == [accounts.BAD_HASH]


@over(
    "power, expected, listed",
    (
        '{"Api":true,"ApiRoles":{"UserQuery":true,"UserManage":true}}',
        Powers(api=True, users_query=True, users_manage=True),
        0,
    ),
    ('{"Editor":true,"Ban":true,"Kick":true,"Mute":true}', Powers(editor=True, ban=True, kick=True, mute=True), 0),
    ('{"Api":true,"ApiRoles":null,"PersonalInformation":true}', Powers(api=True, users_query=True), 0),
    ('{"Api":true,"ApiRoles":{"UserManage":true}}', Powers(api=True), 1),
    ('{"Api":"true"}', Powers(), 0),
    ("broken", Powers(), 1),
    (None, Powers(), 0),
)
def test_powers(power: str | None, expected: Powers, listed: int) -> None:
    found, notes = read(power=power)
    assert found.user.powers == expected
    assert len(notes) == listed


@over("name, kept", ("", False), ("a\x07b", False), ("rank", True), ("two words", True), (ID, True))
def test_unusual_names_are_kept_and_listed(name: Any, *, kept: bool) -> None:
    found, notes = read(name=name)
    assert found.user.name == (name if kept else ID)
    assert len(notes) == 1


@over("email", "", "nobody", "a@b", "a b@example.test")
def test_invalid_email_has_no_fold(email: str) -> None:
    found, _ = read(email=email)
    assert (found.user.email, found.email_fold) == (email, None)


@over(
    "ends, expected",
    ("9999-12-31 23:59:59.9999999", (ID, "", "", 0, None)),  # the year 9999: permanent
    ("9999-12-31 23:59:59-05:00", (ID, "", "", 0, None)),
    ("9998-12-31 23:59:59", (ID, "", "", 0, 253_370_764_799_000)),
    ("2024-02-01 00:00:00", (ID, "", "", 0, 1_706_745_600_000)),
    ("0001-01-01 00:00:00", (ID, "", "", 0, 0)),
    ("later", None),
    (None, None),
)
def test_end_of_ban(ends: str | None, expected: object) -> None:
    assert accounts.read_penalty([(ID, b"", None, ends, None, None)]) == expected
