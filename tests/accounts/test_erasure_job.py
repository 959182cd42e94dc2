"""The background job of an erasure: reads mask data that it has not erased yet, and it survives a kill."""

import json
import os
import re
import signal
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from expectations import refused
from findings import errors, unseen
from game_server import LINK, put_player
from gamekeeper.copies import backups, exports, moves
from gamekeeper.game.accounts import erasures
from gamekeeper.game.audit import retention
from gamekeeper.ground import crash, settings
from gamekeeper.store.accounts import erasures as stored_erasures
from gamekeeper.store.engine import sqlite
from gamekeeper.store.engine.statements import Statements, as_table, list_files
from keepers import open_session
from people import COIN, USER_IDS
from person import OSSIFER, QUILLON, TAMSYN, WORDS, WREN, erase, find_words, finish, key, live
from tidying import trim_older
from world import SENT, MakeWorld, World

pytestmark = pytest.mark.both_engines

CHANGES = "/api/keeper/v1/changes"
MANY = 3 * erasures.BATCH_ROWS + 10  # changes of one player: more than three batches of the erasure job
# MASKED finds SQL on the two tables from which the erasure job removes personal data, SHOWN their columns that hold it
MASKED = re.compile(r"(?:FROM|JOIN|,)\s+(?:ledger|idempotency_keys)\b")
SHOWN = re.compile(r"SELECT (?:\w\.)?\* FROM (?:ledger|idempotency_keys)|\b(?:before|after|reason|answer)\b")


def find_names(text: str) -> list[str]:
    return [word for word in WORDS if word in text.lower()]


def read_everywhere(world: World, user_id: str, folder: Path) -> dict[str, str]:
    """Return the output of every operation and command that shows changes or stored answers."""
    root = open_session(world, "Root")
    paths = [
        f"{CHANGES}?limit=1000",
        f"{CHANGES}?limit=1000&format=csv",
        f"{CHANGES}?user={user_id}",
        *(f"{CHANGES}?player={each}" for each in (WREN, TAMSYN, OSSIFER)),
        f"{LINK}/changes?after=0&limit=1000",
        f"/api/keeper/v1/search?q={OSSIFER}",
        f"/api/keeper/v1/search?q={user_id}",
    ]
    told = {path: world.get(path, by="Server" if path.startswith(LINK) else "Root") for path in paths}
    assert {path: answer.status for path, answer in told.items()} == dict.fromkeys(paths, 200)
    told |= {path: root.get(path) for path in ("/console/changes", f"/console/players/{OSSIFER}")}
    copied = folder / "copy.zip"
    world.run(backups.create_backup(world.keeper.store, copied, unseen, force=True))
    with zipfile.ZipFile(copied) as archive:
        texts = {f"backup {name}": archive.read(name).decode() for name in archive.namelist()}
    exported = folder / f"export{len(list(folder.iterdir()))}"
    world.run(exports.export(world.keeper.store, exported, unseen))
    texts |= {f"export {each.name}": each.read_text(encoding="utf-8") for each in exported.iterdir()}
    return texts | {path: answer.raw.decode() for path, answer in told.items()}


def test_no_read_names_an_erased_account_before_the_job_has_run(world: World, tmp_path: Path) -> None:
    user_id = live(world)
    assert {word for text in read_everywhere(world, user_id, tmp_path).values() for word in find_names(text)} >= {
        "tamsyn"
    }
    assert erase(world, headers=key()).status == 200
    world.run(world.keeper.lists.maintain())
    assert find_words(world)  # the erasure job has not run: the stored rows still contain the names
    masked = read_everywhere(world, user_id, tmp_path)
    assert {reader: find_names(text) for reader, text in masked.items() if find_names(text)} == {}
    assert world.get(f"{CHANGES}?reason=tamsyn").json["Changes"] == []
    changes = json.loads(masked[f"{CHANGES}?limit=1000"])
    finish(world)
    assert find_words(world) == []
    assert json.loads(read_everywhere(world, user_id, tmp_path)[f"{CHANGES}?limit=1000"]) == changes
    assert errors(world) == []


def test_move_copies_no_name_of_an_erased_account(world: World, tmp_path: Path) -> None:
    live(world)
    erase(world)
    target = tmp_path / "moved" / "target.db"
    target.parent.mkdir()
    moved = settings.load({}, database=f"sqlite:///{target}")
    world.run(moves.move(world.keeper, moved, unseen))
    assert find_names("".join(each.read_bytes().decode("latin-1") for each in target.parent.iterdir())) == []


def test_stored_answers_are_refused_before_the_job_has_run(world: World) -> None:
    kept, body = key(), {"username": "Quillon", "password": SENT, "email": "quillon.tresk@example.test"}
    assert world.post("/api/v1/users/register", body, headers=kept).status == 200
    goodbye = key()
    first = erase(world, headers=goodbye)
    for _ in range(2):
        refused(world.post("/api/v1/users/register", body, headers=kept), 409, "answer_erased")
        again = erase(world, headers=goodbye)
        assert (again.status, again.headers["idempotent-replay"]) == (200, "true")
        assert again.json == first.json | {"Name": "", "Email": ""}
        finish(world)


def test_two_instances_share_the_job(make_world: MakeWorld) -> None:
    one, two = make_world(), make_world()
    live(one)
    erase(one)
    batches = 0
    while one.run(stored_erasures.has_jobs(one.keeper.store)):
        done = one.at_once(erasures.blank_batch(each.keeper.store, 2) for each in (one, two, one))
        batches += sum(1 for rows in done if rows)
    assert batches > 5
    one.run(one.keeper.lists.maintain())
    assert find_words(one) == []
    assert errors(one) == []


def test_killed_job_is_resumed(world: World) -> None:
    """The command `users delete` is killed between two batches of the erasure job; the next server continues it."""
    live(world)
    change = """INSERT INTO ledger (at, kind, over_link, player_id, before, request_id, reason)
                SELECT 1, 'player_changed', {false}, CAST($2 AS {guid}), CAST($3 AS {json}), '', 'Tamsyn'
                FROM json_each($1)"""
    world.sql(change, as_table({} for _ in range(MANY)), WREN, '{"Name": "Wrenna"}')
    killed = subprocess.run(
        [sys.executable, "-m", "gamekeeper", "users", "delete", "Quillon", "--yes", "--database", world.url],
        env={**os.environ, crash.VARIABLE: "after_commit:9"},
        capture_output=True,
        check=False,
        timeout=60,
    )
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    left = len(world.sql("SELECT 1 FROM ledger WHERE reason = 'Tamsyn'"))
    assert 0 < left < MANY
    refused(world.get(QUILLON), 404, "no_such_user")
    assert find_names(world.get(f"{CHANGES}?player={WREN}&limit=1000").raw.decode()) == []
    batches: list[int] = []
    world.run(erasures.run_all_jobs(world.keeper.store, batches.append))
    assert sum(batches) < MANY  # the resumed job does not repeat finished batches
    assert find_words(world) == []
    assert errors(world) == []


def test_player_recreated_under_another_account_is_not_erased(world: World) -> None:
    """The erasure job changes only the player's changes from before the erasure."""
    live(world)
    erase(world)
    born = {"Name": "Phoenix", "UserId": USER_IDS["Bob"], "Items": [{"Slot": 0, "ItemId": COIN.id, "Quantity": 1}]}
    assert put_player(world, OSSIFER, born).status == 200
    told = world.get(f"{CHANGES}?player={OSSIFER}").raw
    assert b"Phoenix" in told
    assert find_names(told.decode()) == []
    finish(world)
    assert world.get(f"{CHANGES}?player={OSSIFER}").raw == told
    assert world.call("DELETE", "/api/v1/users/Bob").status == 200
    assert b"Phoenix" not in world.get(f"{CHANGES}?player={OSSIFER}").raw


def test_changes_that_wait_for_the_job_can_be_trimmed(world: World) -> None:
    live(world)
    erase(world)
    world.sql("UPDATE ledger SET at = at - $1", 10 * retention.DAY_MS)
    world.run(trim_older(world.keeper, 8 * retention.DAY_MS))
    assert errors(world) == []
    finish(world)
    assert errors(world) == []


def test_sql_reads_names_through_masked_views_only() -> None:
    """SQL that reads the tables directly may use only numbers, ids and times; names come from the masked views."""
    found = {
        f"{path.stem}.{name}"
        for path in list_files()
        for name, each in Statements(path).named.items()
        if MASKED.search(each.render("sqlite", sqlite.PLACEHOLDERS))
        and SHOWN.search(each.render("sqlite", sqlite.PLACEHOLDERS))
    }
    assert found == {
        "erasures.account_names",  # this and the next two find the names that are to be removed
        "erasures.next_names",
        "erasures.blank_named",
        "erasures.blank_changes",
        "erasures.blank_keys_of_player",
        "erasures.blank_keys_of_user",
        "erasures.blank_keys",
        "erasures.reasons",  # of the erasure itself, which are not masked
        "idempotency_keys.find",  # allowed: it reads answers from masked_keys, only times from ledger
        "feed.acknowledge",  # allowed: it reads only ids
        "ledger.backward_steps",  # allowed: it reads only numbers and times
        "ledger.superseded",  # allowed: it reads before and after from masked_ledger, only numbers from ledger
    }
