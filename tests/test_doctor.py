"""The doctor finds changes that another program made to the database."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import factors
import people
import staff
from command_line import CommandLine
from findings import findings
from gamekeeper import doctor
from gamekeeper.doctor import ERROR, NOTE, DoctorFinding
from gamekeeper.doctor import findings as limits
from world import KEY_FILE, World

MAIL = "mail"
GIB = 1 << 30
IMPORT = "INSERT INTO imports VALUES ($1, $2, '', $3, 0, '{}', $4, $5)"


def noticed(world: World) -> list[DoctorFinding]:
    """Return the doctor's findings, without those that every test world has."""
    return [each for each in findings(world) if each.check != MAIL and "can read" not in each.message]


def errors(world: World, check: str | None = None) -> list[tuple[str, str]]:
    """Return all errors of the doctor, or those of one check: one wrong row may fail several checks."""
    found = noticed(world)
    assert all(each.level == ERROR for each in found)
    return [(each.check, each.message) for each in found if check in (None, each.check)]


def test_intact_database_has_no_findings(world: World) -> None:
    assert noticed(world) == []


def test_no_findings_after_every_kind_of_item_change(world: World) -> None:
    ann = "/api/v1/players/Ann"
    coins, pouch = {"itemid": people.COIN.id, "quantity": 90}, {"itemid": people.POUCH.id, "quantity": 2}
    assert world.post(f"{ann}/items/give", coins | {"bankoverflow": True}).status == 200
    assert world.post(f"{ann}/items/give", pouch).status == 200
    assert world.post(f"{ann}/items/take", coins).status == 200
    assert world.post(f"{ann}/items/take", {"itemid": people.SWORD.id, "quantity": 1}).status == 200
    slots = {"Items": [{"Slot": 0}, {"Slot": 9, "ItemId": people.ARROW.id, "Quantity": 5}]}
    link = f"/api/link/v1/players/{people.ANN.id}"
    assert world.call("PUT", link, by="Server", body=slots).status == 200
    assert world.call("DELETE", f"/api/link/v1/players/{people.ZOE.id}", by="Server").status == 200
    assert noticed(world) == []
    assert world.call("DELETE", link, by="Server").status == 200
    assert noticed(world) == []


def test_increased_quantity_is_found(world: World) -> None:
    world.sql("UPDATE slots SET quantity = quantity + 1 WHERE place = 'bank'")
    [(_, message)] = errors(world, "ledger")
    assert message.startswith(
        f"The slots hold 1251 of item Gold Coin ({people.COIN.id}); the audit log accounts for 1250 (+1). "
    )


def test_deleted_slot_is_found(world: World) -> None:
    world.sql("DELETE FROM slots WHERE item_id = $1 AND place <> 'inventory'", people.ARROW.id)
    assert "hold 60 of item Arrow" in errors(world)[0][1]
    assert "accounts for 67 (-7)" in errors(world)[0][1]


def test_replaced_item_is_found(world: World) -> None:
    world.sql("UPDATE slots SET item_id = $1 WHERE item_id = $2", people.NOBODY_ID, people.SWORD.id)
    assert [message.split(";")[0] for _, message in errors(world, "ledger")] == [
        f"The slots hold 0 of item Sword ({people.SWORD.id})",
        f"The slots hold 1 of item {people.NOBODY_ID}",
    ]


def test_missing_view_and_trigger_are_found(world: World) -> None:
    on_table = " ON players" if world.keeper.store.engine == "postgres" else ""
    world.sql("DROP VIEW player_records")
    world.sql(f"DROP TRIGGER players_ranked{on_table}")
    found = errors(world)
    assert [check for check, _ in found] == ["schema", "schema"]
    assert [message.partition(".")[0] for _, message in found] == [
        "The view player_records is missing",
        "The trigger players_ranked is missing",
    ]
    assert all(message.endswith("or restore a backup.") for _, message in found)


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
def test_missing_trigger_of_search_index_is_found(world: World) -> None:
    """If the search index itself is missing too, as after a killed bulk load, only the index is reported."""
    world.sql("DROP TRIGGER players_by_part_added")
    assert [message.partition(".")[0] for _, message in errors(world, "schema")] == [
        "The trigger players_by_part_added is missing"
    ]
    world.sql("DROP TABLE players_by_part")
    assert {check for check, _ in errors(world)} == {"indexes"}


def test_missing_epoch_row_is_found(world: World) -> None:
    world.sql("DELETE FROM epoch")
    [(check, message)] = errors(world)
    assert check == "ledger"
    assert "epoch" in message
    assert message.endswith("restore a backup.")


def test_missing_change_is_found(world: World) -> None:
    give = {"itemid": people.COIN.id, "quantity": 3}
    assert world.post("/api/v1/players/Bob/items/give", give).status == 200
    world.sql("DELETE FROM ledger WHERE seq = $1", world.ledger()[-1].seq)
    assert "(+3)" in errors(world)[0][1]


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
def test_unreadable_change_is_found(world: World) -> None:
    world.sql("UPDATE ledger SET after = '{' WHERE seq = 6")
    assert errors(world)[0][1].startswith("Change 6 of the audit log cannot be read: ")


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("level", "level + 1"),
        ("exp", "exp + 1"),
        ("name", "'Anna'"),
        ("fold", "'anna'"),
        ("created_at", "created_at + 1"),
        ("class_id", f"'{people.NOBODY_ID}'"),
        ("map_id", f"'{people.NOBODY_ID}'"),
        ("play_time", "play_time + 1"),
        ("user_id", f"'{people.USER_IDS['Bob']}'"),
    ],
)
def test_column_that_differs_from_document_is_found(world: World, column: str, value: str) -> None:
    world.sql(f"UPDATE players SET {column} = {value} WHERE id = $1", people.ANN.id)  # noqa: S608 - the test's own values
    [(check, message)] = errors(world)
    start = f"Player Ann ({people.ANN.id}): the stored document and the columns differ in {column}. "
    assert (check, message[: len(start)]) == ("documents", start)


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        (b'"Level":12', b'"Level":13', "differ in level."),
        (b'"Level":12', b'"Level": 12', "differ in document."),
        (b'"Name":"Ann"', b'"Name":7', "cannot be read"),
        (b'"CreationDate":"2023', b'"CreationDate":"x023', "cannot be read"),
    ],
)
def test_changed_document_is_found(world: World, old: bytes, new: bytes, problem: str) -> None:
    document: bytes = world.sql("SELECT document FROM players WHERE id = $1", people.ANN.id)[0][0]
    assert old in document
    world.sql("UPDATE players SET document = $2 WHERE id = $1", people.ANN.id, document.replace(old, new))
    assert problem in errors(world)[0][1]


def test_equipment_in_empty_slot_is_found(world: World) -> None:
    world.sql("UPDATE slots SET slot = 20 WHERE item_id = $1", people.SWORD.id)
    [(_, message)] = errors(world, "equipment")
    assert message.startswith(f"Player Ann ({people.ANN.id}) has equipped inventory slot 2, which is empty. ")


def test_bag_in_no_slot_is_found(world: World) -> None:
    world.sql("UPDATE slots SET bag_id = NULL WHERE bag_id = $1", people.ANNS_POUCH)
    start = f"Bag {people.ANNS_POUCH} of player {people.ANN.id} is in 0 slots instead of one."
    assert [message[: len(start)] for _, message in errors(world, "bags")] == [start]


def test_bag_in_two_slots_is_found(world: World) -> None:
    world.sql("UPDATE slots SET bag_id = $1 WHERE item_id = $2", people.ANNS_POUCH, people.SWORD.id)
    assert "is in 2 slots instead of one" in errors(world, "bags")[0][1]


def test_slot_in_bag_of_another_player_is_found(world: World) -> None:
    world.sql("UPDATE slots SET player_id = $1 WHERE place = $2", people.BOB.id, people.ANNS_POUCH)
    [(_, message)] = errors(world, "bags")
    assert f"Slot 1 of player {people.BOB.id} lies in bag {people.ANNS_POUCH}" in message


@pytest.mark.parametrize("name", ["players_by_rank", "ledger_by_user"])
def test_missing_index_is_found_and_fix_creates_it(world: World, name: str) -> None:
    world.sql(f"DROP INDEX {name}")
    [(check, message)] = errors(world)
    assert (check, message.split(",")[0]) == ("indexes", f"The index {name} is missing")
    command = CommandLine(world.url)
    assert message in command.says("doctor", code=1)
    assert command.says("doctor", "--fix").startswith(f"note: indexes: Created: {name}.\nnote: lists: ")
    assert noticed(world) == []
    assert "indexes" not in command.says("doctor", "--fix")


def test_fix_creates_index_as_in_the_schema(world: World) -> None:
    before = index_of_slots(world)
    world.sql("DROP INDEX slots_by_bag")
    findings(world, fix=True)
    assert index_of_slots(world) == before


def index_of_slots(world: World) -> Any:
    if world.keeper.store.engine == "sqlite":
        return world.sql("SELECT sql FROM sqlite_master WHERE name = 'slots_by_bag'")[0]
    return world.sql("SELECT indexdef FROM pg_indexes WHERE indexname = 'slots_by_bag'")[0]


def test_reduced_sizes_give_a_note(make_world: Callable[..., World]) -> None:
    world = make_world(inventory_slots=2, bank_slots=1, spell_slots=1)
    world.sql("UPDATE known_spells SET slot = 5")
    cure = "Raise it, or have the game move them."
    assert findings(world, "sizes") == [
        DoctorFinding(NOTE, "sizes", f"2 inventory slots are beyond the setting inventory_slots = 2. {cure}"),
        DoctorFinding(NOTE, "sizes", f"1 known spells are beyond the setting spell_slots = 1. {cure}"),
    ]


def test_findings_beyond_the_limit_are_counted(world: World) -> None:
    for number in range(30):
        bag = people.guid(0x900 + number)
        world.sql("INSERT INTO bags (id, player_id, slot_count) VALUES ($1, $2, 1)", bag, people.BOB.id)
    found = errors(world)
    assert len(found) == doctor.MAX_SHOWN + 1
    assert found[-1] == ("bags", "And 10 more like these.")


def test_unsafe_settings_are_found(make_world: Callable[..., World]) -> None:
    world = make_world(host="0.0.0.0")  # noqa: S104 - only looked at, not listened on
    world.sql("UPDATE users SET api = $1", False)
    notes = [each.check for each in noticed(world) if each.level == NOTE]
    assert notes == ["accounts", "settings"]


@pytest.mark.parametrize(
    ("host", "outside"),
    [
        ("127.0.0.1", False),
        ("127.8.9.1", False),
        ("::1", False),
        ("localhost", False),
        ("0.0.0.0", True),  # noqa: S104 - only looked at
        ("::", True),
        ("192.168.1.2", True),
        ("game.example.com", True),
    ],
)
def test_exposed_hosts_are_recognized(host: str, outside: bool) -> None:  # noqa: FBT001 - a parameter of the cases above
    assert doctor.is_exposed(host) is outside


def test_waiting_mail_gives_a_note(world: World) -> None:
    assert world.get("/api/v1/users/Ann/password/reset").status == 200
    assert [each.message for each in findings(world, MAIL)] == [
        "Mail is not set up, so it waits in the outbox (1 there now). Set GAMEKEEPER_SMTP_URL."
    ]


def test_interrupted_import_is_found(world: World) -> None:
    world.sql(IMPORT, "a", "done", "a.jsonl", 1, 2)
    assert noticed(world) == []
    world.sql(IMPORT, "b", "players", "b.jsonl", 3, None)
    message = (
        "The import with the report b.jsonl was interrupted in the stage players, or is still running: data is "
        "missing. To continue it, run the same command again: gamekeeper import intersect … --report b.jsonl"
    )
    assert noticed(world) == [DoctorFinding(ERROR, "imports", message)]
    assert f"error: imports: {message}\n" in CommandLine(world.url).says("doctor", "--fix", code=1)
    world.sql(IMPORT, "c", "done", "c.jsonl", 4, 5)
    [found] = noticed(world)
    assert found.level == NOTE
    assert "in the stage players. A later import finished;" in found.message


class Disk(NamedTuple):
    total: int
    free: int


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
@pytest.mark.parametrize(
    ("disk", "wanted"),
    [
        (Disk(1000 * GIB, GIB), None),
        (Disk(1000 * GIB, GIB - 1), "1.00 GiB left"),
        (Disk(10 * GIB, GIB // 2), None),
        (Disk(10 * GIB, GIB // 4), "0.25 GiB left"),
    ],
)
def test_nearly_full_disk_gives_a_note(
    world: World, monkeypatch: pytest.MonkeyPatch, disk: Disk, wanted: str | None
) -> None:
    """The doctor's limit for free space is 5 % of a small disk, or 1 GiB of a large one."""

    def usage(_: Path) -> Disk:
        return disk

    monkeypatch.setattr(shutil, "disk_usage", usage)
    found = findings(world, "disk")
    assert [wanted is not None and wanted in each.message for each in found] == [True] * (wanted is not None)


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
def test_database_file_readable_by_others_gives_a_note(world: World) -> None:
    file = Path(world.url.removeprefix("sqlite:///"))
    for mode, wanted in ((0o644, True), (0o640, False), (0o600, False)):
        file.chmod(mode)
        assert any("Run: chmod 600" in each.message for each in findings(world)) is wanted


def test_key_file_readable_by_others_gives_a_note(make_world: Callable[..., World], tmp_path: Path) -> None:
    file = tmp_path / "secret.key"
    file.write_bytes(Path(KEY_FILE).read_bytes())
    world = make_world(secret_key_file=str(file))
    for mode, wanted in ((0o644, 1), (0o604, 1), (0o640, 0), (0o400, 0)):
        file.chmod(mode)
        found = findings(world, "second factors")
        assert [each.message.endswith(f"Run: chmod 600 {file}") for each in found] == [True] * wanted


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
def test_damaged_file_is_found(database: str, make_world: Callable[..., World]) -> None:
    file = Path(database.removeprefix("sqlite:///"))
    content = bytearray(file.read_bytes())
    content[8192 * 2 : 8192 * 12] = bytes(8192 * 10)
    file.write_bytes(content)
    found = errors(make_world())
    assert found
    assert all(check == "integrity" and message.endswith("Restore a backup.") for check, message in found)


def test_doctor_reads_pages_and_reports_progress(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "PAGE_ROWS", 2)
    seen: list[tuple[str, int, int]] = []

    def see(what: str, done: int, total: int) -> None:
        seen.append((what, done, total))

    world.run(doctor.examine(world.keeper, see))
    entries = len([entry for entry in world.ledger() if entry.kind != "catalogue_put"])
    assert [moved for moved in seen if moved[0] == "players"] == [("players", 2, 3), ("players", 3, 3)]
    assert len([moved for moved in seen if moved[0] == "ledger"]) == (entries + 1) // 2


def test_doctor_writes_nothing(world: World) -> None:
    before = world.ledger()
    noticed(world)
    assert world.ledger() == before


def test_role_given_by_another_program_is_found(world: World) -> None:
    staff.fill_roles(world)
    assert errors(world) == []
    world.sql("DELETE FROM user_roles WHERE role = 'helper'")
    ((check, message),) = errors(world)
    assert check == "powers"
    assert "roles differ from the audit log" in message


def test_secret_that_the_key_file_cannot_decrypt_is_found(world: World, tmp_path: Path) -> None:
    factors.add_totp(world, people.USER_IDS["Ann"])
    assert errors(world) == []
    (tmp_path / "other.key").write_text("B" * 43 + "=")
    other = World(world.url, world.tokens, world.loop, secret_key_file=str(tmp_path / "other.key"))
    ((check, message),) = errors(other)
    other.close()
    assert check == "second factors"
    assert "cannot decrypt a second factor of Ann." in message
    missing = World(world.url, world.tokens, world.loop, secret_key_file=str(tmp_path / "none"))
    assert "cannot be read" in errors(missing)[0][1]
    missing.close()


def test_unknown_role_that_requires_a_factor_is_found(make_world: Callable[..., World]) -> None:
    ((check, message),) = errors(make_world(second_factor_roles="admin,bosses"))
    assert check == "second factors"
    assert "names the role bosses, which does not exist" in message


def test_unknown_permission_of_a_role_is_noted(world: World) -> None:
    world.sql("INSERT INTO role_permissions (role, permission) VALUES ('shop', 'items.mint')")
    assert DoctorFinding(
        NOTE, "roles", "The role shop has the permission items.mint, which does not exist."
    ) in noticed(world)
