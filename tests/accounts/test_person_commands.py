import json
from pathlib import Path
from typing import Any

import factors
import staff
from command_line import CommandLine
from game_server import heartbeat, join, put_player
from people import ANN, ANNS_POUCH, COIN, USER_IDS, ZOE, guid
from world import SENT, World

DELETE = ("users", "delete", "Ann")


def names(command: CommandLine) -> list[str]:
    return [each["name"] for each in command.json("users", "list")]


# --- command `users delete` ----------------------------------------------------------------------------------------


def test_delete(command: CommandLine, world: World) -> None:
    result = command.run(*DELETE, "--yes")
    said = f"Ann ({USER_IDS['Ann']}), 2 players (Ann, Zoe) and the names in 3 changes of the audit log"
    assert result.stdout == f"Erased {said}.\n"
    assert f"Will be erased: {said}." in result.stderr
    assert "Older backups" in result.stderr
    assert "Ann" not in names(command)
    assert world.get(f"/api/v1/players/{ANN.id}").status == 404
    entry = world.ledger()[-1]
    assert (entry.kind, entry.actor_id, entry.request_id[:4]) == ("user_deleted", None, "cli-")
    rest = str(world.sql("SELECT word FROM list_changes")) + str(world.sql("SELECT buckets FROM list_blocks"))
    assert "zoe" not in rest


def test_delete_of_unknown_or_online_or_without_confirmation_is_refused(command: CommandLine, world: World) -> None:
    assert "No user with name 'Nobody'. List the accounts" in command.refuses("users", "delete", "Nobody", "--yes")
    said = command.run(*DELETE, "--dry-run").stdout
    assert said.endswith("2 players (Ann, Zoe) and the names in 3 changes of the audit log.\n")
    problem = command.refuses(*DELETE, code=2, typed="y\n")
    assert "Cannot ask for confirmation without a terminal. Use --yes, or check first with --dry-run." in problem
    heartbeat(world)
    join(world, ZOE.id)
    for how in ("--yes", "--dry-run"):
        assert "The player is online; retry after the player has left the game." in command.refuses(*DELETE, how)
    assert "Ann" in names(command)


# --- command `users export` ----------------------------------------------------------------------------------------


def export(command: CommandLine, path: Path, name: str = "ann", *more: str) -> Any:
    command.says("users", "export", name, str(path), *more)
    return json.loads(path.read_bytes())


def test_export(command: CommandLine, world: World, tmp_path: Path) -> None:
    world.get("/api/v1/users/Ann/password/reset")
    world.post("/api/v1/users/Ann/password/validate", {"password": SENT})
    world.insert("mutes", user_id=USER_IDS["Ann"], reason="shouting", moderator="Root", started_at=0)
    world.call("DELETE", "/api/v1/players/Zoe", headers={"X-Reason": "asked for"})
    path = tmp_path / "ann.json"
    said = command.says("users", "export", "ann", str(path))
    found = json.loads(path.read_bytes())
    assert said == f"Wrote all data of Ann to {path} (1 player, 5 changes; {path.stat().st_size:,} bytes).\n"
    assert path.stat().st_mode & 0o777 == 0o600
    assert (found["account"]["Name"], found["account"]["Email"]) == ("Ann", "ann@example.test")
    assert found["account"]["PasswordResetCode"] is None
    (ann,) = found["characters"]
    assert (ann["Name"], ann["Items"][0]["Quantity"], ann["Bank"][0]["ItemId"]) == ("Ann", 250, COIN.id)
    assert (ann["Bags"][0]["Id"], ann["Spells"][0]["Slot"], len(ann["Variables"])) == (ANNS_POUCH, 0, 2)
    penalty = {"kind": "mute", "reason": "shouting", "moderator": "Root", "started_at": "1970-01-01T00:00:00.000Z"}
    assert found["penalties"] == [penalty | {"ends_at": None}]
    assert [each["address"] for each in found["mails"]] == ["ann@example.test"]
    # the exported caller is "caller:" followed by a digest
    assert [each["caller"].partition(":")[0] for each in found["callers"]] == ["caller"]
    kinds = ["user_registered", "reset_requested", "player_created", "player_created", "player_deleted"]
    assert [each["kind"] for each in found["changes"]] == kinds
    assert next(each["reason"] for each in found["changes"] if each["kind"] == "player_deleted") == "asked for"


def test_export_has_texts_roles_links_and_factors_but_no_secrets(
    command: CommandLine, world: World, tmp_path: Path
) -> None:
    variable_id = guid(0xD00)
    world.sql("INSERT INTO player_texts VALUES ($1, $2, 'Number', '2.5')", ZOE.id, variable_id)
    staff.fill_roles(world)
    staff.link_identity(world, "Ann", "ann-at-work")
    secret, codes = factors.add_totp(world, USER_IDS["Ann"])
    found = export(command, tmp_path / "ann.json")
    assert found["texts"] == [{"player_id": ZOE.id, "variable_id": variable_id, "type": "Number", "value": 2.5}]
    roles = [("permission", "audit.read"), ("role", "helper"), ("role", "shop")]
    assert [(each["kind"], each["name"]) for each in found["roles"]] == roles
    (linked,) = found["identities"]
    assert (linked["issuer"], linked["subject"]) == ("https://id.example", "ann-at-work")
    assert linked["added_at"].endswith("Z")
    told = [(each["kind"], each["name"], each["last_used"]) for each in found["second_factors"]]
    assert told == [("totp", "Phone", None)]
    assert [each["used_at"] for each in found["recovery_codes"]] == [None] * 10
    secrets = [secret, *codes]
    for columns in ("secret FROM second_factors", "code_hash FROM recovery_codes", "password FROM users"):
        secrets += [str(each) for (each,) in world.sql(f"SELECT {columns}") if each]
    text = (tmp_path / "ann.json").read_text()
    assert not [each for each in secrets if each in text]


def test_export_omits_player_that_moved_to_another_account(command: CommandLine, world: World, tmp_path: Path) -> None:
    assert put_player(world, ZOE.id, {"UserId": USER_IDS["Bob"]}).status == 200
    assert world.post("/api/v1/players/Zoe/name", {"name": "Bobbin"}, headers={"X-Reason": "Bob asked"}).status == 200
    assert world.call("DELETE", "/api/v1/players/Bobbin").status == 200
    found = export(command, tmp_path / "ann.json")
    assert {each["player_id"] for each in found["changes"]} == {None, ANN.id}
    assert ZOE.id in {each["player_id"] for each in export(command, tmp_path / "bob.json", "Bob")["changes"]}
