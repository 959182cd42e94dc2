"""The doctor finds changes that another program made to the database, and none that Gamekeeper made itself."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import factors
import people
import staff
from command_line import CommandLine
from findings import findings
from gamekeeper.doctor import findings as limits
from gamekeeper.doctor.findings import ERROR, NOTE, DoctorFinding
from gamekeeper.game.core.lookup import ZERO_GUID, make_clashing_fold
from people import ANN, ANNS_POUCH, BOB, COIN
from providers import make_settings
from world import KEY_FILE, MakeWorld, World, open_world

MAIL = "mail"
LINK = "/api/link/v1/players"
ANNS_ACCOUNT = people.USER_IDS["Ann"]
BAG = "INSERT INTO bags (id, player_id, slot_count) VALUES ($1, $2, 1)"
ONLY_SQLITE = pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
# SQL that changes one thing, the check that finds it, and a part of its message; each on a new database
DAMAGES = [
    ("DELETE FROM slots WHERE item_id = '{ARROW}' AND place <> 'inventory'", "ledger", "hold 60 of item Arrow"),
    (
        "UPDATE slots SET quantity = quantity + 1 WHERE place = 'bank'",
        "ledger",
        f"The slots hold 1253 of item Gold Coin ({COIN.id}); the audit log accounts for 1252 (+1). ",
    ),
    ("UPDATE slots SET buffs = '[9,9,9,9,9]' WHERE place = 'inventory' AND slot = 2", "slots", "inventory slot 2 has "),
    ("UPDATE slots SET item_id = '{NOBODY}' WHERE item_id = '{SWORD}'", "ledger", "The slots hold 0 of item Sword"),
    ("UPDATE slots SET slot = 20 WHERE slot = 2 AND place = 'inventory'", "equipment", "equipped inventory slot 2, wh"),
    ("UPDATE slots SET bag_id = NULL WHERE bag_id = '{POUCH}'", "bags", f"Bag {ANNS_POUCH} of player {ANN.id} is in 0"),
    ("UPDATE slots SET bag_id = '{POUCH}' WHERE item_id = '{SWORD}'", "bags", "is in 2 slots instead of one"),
    ("UPDATE known_spells SET spell_id = player_id", "spells", f"spell slot 0 has spell {ANN.id}; the audit log says"),
    ("INSERT INTO known_spells SELECT id, 3, id FROM players WHERE name = 'Bob'", "spells", "3 has spell"),
    ("DELETE FROM known_spells", "spells", "spell slot 0 has nothing; the audit log says spell"),
    ("UPDATE player_variables SET value = 8 WHERE type = 'Integer'", "variables", "has Integer 8; the audit log says"),
    ("DELETE FROM player_variables WHERE type = 'Boolean'", "variables", "nothing; the audit log says Boolean 1"),
    (
        "INSERT INTO player_texts SELECT id, id, 'Number', '\"2.5\"' FROM players WHERE name = 'Bob'",
        "variables",
        "is of type Number, but its value is not",
    ),
    (
        "UPDATE users SET fold = 'somebody' WHERE name = 'Ann'",
        "names",
        f"Account Ann ({ANNS_ACCOUNT}): the folded name",
    ),
    ("UPDATE users SET email_fold = 'x@y.test' WHERE name = 'Ann'", "names", "the folded email differs"),
    ("UPDATE users SET ban = NOT ban, kick = NOT kick WHERE name = 'Ann'", "powers", "ban, kick differ from the audit"),
    ("UPDATE users SET api = NOT api WHERE name = 'Bob'", "powers", "api differ from the audit log"),
    ("UPDATE slots SET buffs = '[1,' WHERE slot = 2", "values", "table slots have a value in buffs that is not JSON"),
    ("UPDATE ledger SET at = 253402300799999 WHERE seq = 1", "values", "1 rows of the table ledger have a value in at"),
    ("UPDATE ledger SET seq = 9007199254740993 WHERE seq = 1", "values", "not from 1 to 9007199254740992"),
    ("UPDATE users SET created_at = -9223372036854775808", "values", "created_at that is not a time from the year 1"),
    ("DELETE FROM user_roles WHERE role = 'helper'", "powers", "roles differ from the audit log"),
    *(
        (f"UPDATE players SET {column} = {value} WHERE id = '{{ANN}}'", "documents", f" {column}")  # noqa: S608 - ours
        for column, value in {
            "level": "level + 1",
            "exp": "exp + 1",
            "name": "'Anna'",
            "fold": "'anna'",
            "created_at": "created_at + 1",
            "class_id": f"'{people.NOBODY_ID}'",
            "map_id": f"'{people.NOBODY_ID}'",
            "play_time": "play_time + 1",
            "user_id": f"'{people.USER_IDS['Bob']}'",
        }.items()
    ),
    ("DROP VIEW player_records", "schema", "The view player_records is missing."),
    ("DROP INDEX players_by_rank", "indexes", "The index players_by_rank is missing,"),
    ("DELETE FROM epoch", "ledger", "epoch"),
]
IDS = {"ARROW": people.ARROW.id, "SWORD": people.SWORD.id, "POUCH": ANNS_POUCH, "ANN": ANN.id}


def noticed(world: World) -> list[DoctorFinding]:
    """Return the doctor's findings, without those that every test world has."""
    return [each for each in findings(world) if each.check != MAIL and "can read" not in each.message]


def errors(world: World, check: str | None = None) -> list[tuple[str, str]]:
    """Return all errors of the doctor, or those of one check: one wrong row may fail several checks."""
    found = [each for each in noticed(world) if each.check != "clock"]  # wrong times also make the log go back
    assert all(each.level == ERROR for each in found)
    return [(each.check, each.message) for each in found if check in (None, each.check)]


def put(world: World, body: dict[str, object]) -> None:
    assert world.call("PUT", f"{LINK}/{BOB.id}", by="Server", body=body).status == 200


# --- changes of Gamekeeper itself ------------------------------------------------------------------------------------


@pytest.mark.both_engines
def test_changes_over_the_api_and_the_link_leave_no_finding(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    assert noticed(world) == []
    monkeypatch.setattr(limits, "PAGE_ROWS", 2)
    staff.fill_roles(world)
    for name, quantity in (("Ann", 90), ("Bob", 5)):
        world.give(name, quantity).accepted()
    for act, item, quantity in (("give", people.POUCH, 2), ("take", COIN, 90), ("take", people.SWORD, 1)):
        world.give("Ann", quantity, item.id, act=act).accepted()
    put(world, {"Items": [{"Slot": 0}, {"Slot": 9, "ItemId": people.ARROW.id, "Quantity": 5}]})
    put(
        world,
        {
            "Spells": [{"Slot": 1, "SpellId": people.HEAL.id}],
            "Variables": [{"VariableId": people.KILLS.id, "Value": 3}],
        },
    )
    put(world, {"Spells": [{"Slot": 1, "SpellId": ZERO_GUID}]})
    for powers in ({"ban": True, "api": True}, {"ban": False}):
        assert world.post(f"/api/keeper/v1/users/{ANNS_ACCOUNT}/powers", powers).status == 200
    for each in (people.ZOE, ANN):
        assert world.call("DELETE", f"{LINK}/{each.id}", by="Server").status == 200
    assert errors(world) == []
    deletion = next(row.seq for row in reversed(world.ledger()) if row.kind == "player_deleted")
    assert world.post(f"/api/keeper/v1/changes/{deletion}/undo?force=true").status == 200
    folds = make_clashing_fold("Ann", ANNS_ACCOUNT), make_clashing_fold("", ANNS_ACCOUNT)  # as an import sets them
    world.sql("UPDATE users SET fold = $1, email_fold = $2 WHERE id = $3", *folds, ANNS_ACCOUNT)
    with world.nothing_recorded():
        assert errors(world) == []


def test_only_untrimmed_changes_are_compared(world: World) -> None:
    """The doctor compares only untrimmed changes: among trimmed ones, a deleted change may have been newer."""
    world.give("Bob", 5).accepted()
    put(world, {"Items": [{"Slot": 0}]})
    put(world, {"Exp": 77})
    world.sql("DELETE FROM ledger WHERE kind = 'items_set'")
    world.sql("UPDATE epoch SET trimmed = $1", world.ledger()[-1].seq)
    assert errors(world, "slots") == []
    world.give("Bob", 3).accepted()
    assert errors(world, "slots") == []
    world.sql("UPDATE slots SET quantity = 4 WHERE player_id = $1", BOB.id)
    assert len(errors(world, "slots")) == 1


# --- changes by SQL --------------------------------------------------------------------------------------------------


def test_each_change_by_sql_is_found(databases: Any, known_tokens: Mapping[str, str]) -> None:
    for statement, check, said in DAMAGES:
        url = databases.fresh()
        with open_world(url, known_tokens) as world:
            staff.fill_roles(world)
            world.sql(statement.replace("{NOBODY}", people.NOBODY_ID).format(**IDS))
            found = errors(world, check)
            assert any(said in message for _, message in found), (statement, found)
        databases.drop(url)


def test_item_moved_between_players_or_into_their_bag_is_found(world: World) -> None:
    """The totals of the items are right, so only the comparison of slots finds it."""
    world.sql("UPDATE slots SET player_id = $1 WHERE player_id = $2 AND place = 'bank'", BOB.id, ANN.id)
    coins = f"1000 of item {COIN.id} with stat buffs [0,0,0,0,0]"
    assert findings(world, "ledger") == []
    assert [message.split(". ")[0] for _, message in errors(world, "slots")] == [
        f"Player Ann ({ANN.id}): bank slot 0 has nothing; the audit log says {coins}",
        f"Player Bob ({BOB.id}): bank slot 0 has {coins}; the audit log says nothing",
    ]
    world.sql("UPDATE slots SET player_id = $1 WHERE place = $2", BOB.id, ANNS_POUCH)
    [(_, message)] = errors(world, "bags")
    assert f"Slot 1 of player {BOB.id} lies in bag {ANNS_POUCH}" in message


def test_missing_or_unreadable_change_is_found(world: World) -> None:
    world.give("Bob", 3).accepted()
    world.sql("DELETE FROM ledger WHERE seq = $1", world.ledger()[-1].seq)
    assert "(+3)" in errors(world)[0][1]
    if world.keeper.store.engine == "sqlite":
        world.sql("UPDATE ledger SET after = '{' WHERE seq = 6")
        assert errors(world)[0][1].startswith("Change 6 of the audit log cannot be read: ")


def test_changed_document_is_found(world: World) -> None:
    document: bytes = world.sql("SELECT document FROM players WHERE id = $1", ANN.id)[0][0]
    for old, new, problem in (
        (b'"Level":12', b'"Level":13', "differ in level."),
        (b'"Level":12', b'"Level": 12', "differ in document."),
        (b'"Name":"Ann"', b'"Name":7', "cannot be read"),
        (b'"CreationDate":"2023', b'"CreationDate":"x023', "cannot be read"),
    ):
        world.sql("UPDATE players SET document = $2 WHERE id = $1", ANN.id, document.replace(old, new))
        assert problem in errors(world)[0][1]


def test_bags_inside_each_other_are_found_and_further_findings_counted(world: World) -> None:
    outer, inner = people.guid(0x801), people.guid(0x802)
    for bag, place in ((outer, inner), (inner, outer)):
        world.sql(BAG, bag, BOB.id)
        world.sql("INSERT INTO slots VALUES ($1, $2, 0, $3, 1, $4, '[0,0,0,0,0]')", BOB.id, place, people.POUCH.id, bag)
    cycles = {message.split(". ")[0] for _, message in errors(world, "bags")}
    assert cycles == {f"Bag {each} of player {BOB.id} lies inside itself" for each in (outer, inner)}
    for number in range(28):
        world.sql(BAG, people.guid(0x900 + number), BOB.id)
    found = errors(world, "bags")
    assert (len(found), found[-1]) == (limits.MAX_SHOWN + 1, ("bags", "And 10 more like these."))


@pytest.mark.both_engines
def test_fix_creates_missing_index_as_in_the_schema(world: World) -> None:
    on_sqlite = world.keeper.store.engine == "sqlite"
    column, table, name = ("sql", "sqlite_master", "name") if on_sqlite else ("indexdef", "pg_indexes", "indexname")
    read = f"SELECT {column} FROM {table} WHERE {name} = 'slots_by_bag'"  # noqa: S608 - names of each engine
    before = world.sql(read)
    world.sql("DROP INDEX slots_by_bag")
    command = CommandLine(world.url)
    assert "The index slots_by_bag is missing" in command.says("doctor", code=1)
    assert command.says("doctor", "--fix").startswith("note: indexes: Created: slots_by_bag.\nnote: lists: ")
    assert (noticed(world), world.sql(read)) == ([], before)


@ONLY_SQLITE
def test_damaged_file_is_found(database: str, make_world: MakeWorld) -> None:
    file = Path(database.removeprefix("sqlite:///"))
    content = bytearray(file.read_bytes())
    content[8192 * 2 : 8192 * 12] = bytes(8192 * 10)
    file.write_bytes(content)
    found = errors(make_world())
    assert found
    assert all(check == "integrity" and message.endswith("Restore a backup.") for check, message in found)


# --- settings, files and work that waits -----------------------------------------------------------------------------


def test_unsafe_or_unfitting_settings_are_found(make_world: MakeWorld, tmp_path: Path) -> None:
    world = make_world(host="0.0.0.0", inventory_slots=2, bank_slots=1, spell_slots=1)  # noqa: S104 - only looked at
    world.sql("UPDATE known_spells SET slot = 5")
    cure = "Raise it, or have the game move them."
    assert findings(world, "sizes") == [
        DoctorFinding(NOTE, "sizes", f"2 inventory slots are beyond the setting inventory_slots = 2. {cure}"),
        DoctorFinding(NOTE, "sizes", f"1 known spells are beyond the setting spell_slots = 1. {cure}"),
    ]
    world.sql("UPDATE users SET api = $1", False)
    assert {"accounts", "settings"} <= {each.check for each in noticed(world) if each.level == NOTE}
    [unknown] = findings(make_world(second_factor_roles="admin,bosses"), "second factors")
    assert (unknown.level, "names the role bosses, which does not exist" in unknown.message) == (ERROR, True)
    chosen = make_settings("https://id.example", tmp_path, "ops=admin,chiefs=bosses")
    [found] = findings(make_world(**chosen), "openid connect")
    assert (found.level, "GAMEKEEPER_OIDC_ROLES names the role bosses, which" in found.message) == (ERROR, True)
    world.sql("INSERT INTO role_permissions (role, permission) VALUES ('shop', 'items.mint')")
    assert "The role shop has the permission items.mint, which does not exist." in [
        each.message for each in findings(world, "roles")
    ]


@ONLY_SQLITE
def test_files_readable_by_others_give_a_note(make_world: MakeWorld, tmp_path: Path) -> None:
    key = tmp_path / "secret.key"
    key.write_bytes(Path(KEY_FILE).read_bytes())
    chosen = make_settings("https://id.example", tmp_path)
    world = make_world(secret_key_file=str(key), **chosen)
    database, secret = Path(world.url.removeprefix("sqlite:///")), Path(chosen["oidc_client_secret_file"])
    for file, modes in {database: (0o644, 0o640), key: (0o604, 0o640), secret: (0o644, 0o600)}.items():
        for mode, wanted in zip(modes, (True, False), strict=True):
            file.chmod(mode)
            assert any("Run: chmod 600" in each.message and file.name in each.message for each in findings(world)) is (
                wanted
            ), file


def test_secret_that_the_key_file_cannot_decrypt_is_found(make_world: MakeWorld, tmp_path: Path) -> None:
    world = make_world()
    factors.add_totp(world, ANNS_ACCOUNT)
    assert errors(world) == []
    (tmp_path / "other.key").write_text("B" * 43 + "=")
    for name, said in (("other.key", "cannot decrypt a second factor of Ann."), ("none", "cannot be read")):
        other = make_world(secret_key_file=str(tmp_path / name))
        assert said in errors(other, "second factors")[0][1]
