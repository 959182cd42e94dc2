"""Search and sort order of lists: results equal those of Python's `in`, in every order, after any change."""

import random
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

import pytest
from msgspec.structs import replace

import game_server
from expectations import refused
from findings import findings
from gamekeeper.game.access.changes import make_user_columns
from gamekeeper.game.core.lookup import fold
from gamekeeper.game.lists import search
from gamekeeper.game.players import changes
from gamekeeper.store.access import roles
from gamekeeper.store.accounts import users
from gamekeeper.store.engine import database_checks
from gamekeeper.store.engine.interface import Writing
from gamekeeper.store.players import players
from people import ANN, USER_IDS, ZOE, guid
from world import PLAYERS, USERS, World

pytestmark = pytest.mark.both_engines

ONLINE = "/api/v1/players/online"
LETTERS = ["a", "b", "A", "B", "é", "É", "e\u0301", "ß", "%", "_", "'", '"', "*", "-", "Ж", "ж", "😀", " ", "(", "\\"]
MANY = 120


def names(world: World, path: str, **query: str) -> list[str]:
    """Return the names of all search results, read page by page."""
    asked = "&".join(f"{name}={quote(value)}" for name, value in query.items())
    found: list[str] = []
    for page in range(1000):
        answer = world.get(f"{path}?{asked}&page={page}&pageSize=100").accepted()
        found += [each["Name"] for each in answer.json["Values"]]
        if len(answer.json["Values"]) < 100:
            assert answer.json["Total"] == len(found)
            break
    return found


def add(world: World, given: Sequence[str], first: int = 0x5000) -> None:
    """Add players to Ann's account with different levels."""
    made = [
        changes.make_player_columns(
            replace(ZOE, id=guid(number), name=name, level=number % 7 + 1), world.keeper.changes.codec
        )
        for number, name in enumerate(given, first)
    ]

    async def insert(tx: Writing) -> None:
        players.insert(tx, made)

    world.run(world.keeper.store.write(insert))


def add_users(world: World, given: Sequence[tuple[str, str]]) -> None:
    made = [
        make_user_columns(users.User(guid(number), name, email, "!", roles.Powers(), 0, None, None))
        for number, (name, email) in enumerate(given, 0x6000)
    ]

    async def insert(tx: Writing) -> None:
        users.insert(tx, made)

    world.run(world.keeper.store.write(insert))


def make_names(count: int) -> list[str]:
    """Return `count` different random names."""
    chance = random.Random(6)
    words = ("".join(chance.choices(LETTERS, k=chance.randint(2, 9))) for _ in range(count))
    return list({fold(word): word for word in words}.values())


def sought(chance: random.Random, given: Sequence[str]) -> list[str]:
    """Return search texts: parts of names in any case, and texts that no name contains, all long enough."""
    texts = ["".join(chance.choices(LETTERS, k=3)) for _ in range(30)]
    for _ in range(MANY):
        name = chance.choice(given)
        start = chance.randrange(len(name))
        texts.append(chance.choice([str.upper, str.lower, str])(name[start : start + chance.randint(3, 7)]))
    return [text for text in texts if len(fold(text)) >= 3]


def test_search_finds_the_same_as_pythons_in(world: World) -> None:
    given = make_names(300)
    add(world, given)
    met = 0
    for text in sought(random.Random(7), given):
        wanted = sorted((name for name in given if fold(text) in fold(name)), key=fold)
        assert names(world, PLAYERS, search=text) == wanted, text
        met += len(wanted)
    assert met > MANY // 2


def test_accounts_are_found_by_email(world: World) -> None:
    given = [(name, f"{number}%{'xÉ'[number % 2]}_q@example.test") for number, name in enumerate(make_names(80))]
    add_users(world, given)
    pieces = sought(random.Random(8), [name for name, _ in given])[:60]
    for text in ("É_Q@", "é_q", "%x_", "1%é", "example.tes", "xample.test", *pieces):
        wanted = {name for name, email in given if fold(text) in fold(name) or fold(text) in fold(email)}
        wanted |= {name for name in USER_IDS if fold(text) in f"{fold(name)} {fold(name)}@example.test"}
        assert names(world, USERS, search=text) == sorted(wanted, key=fold), text


def test_search_follows_writes_and_hides_the_suffix_of_duplicate_names(world: World) -> None:
    new, body = game_server.newcomer(1, Name="Quillon")
    assert game_server.put_player(world, new, body).status == 200
    assert names(world, PLAYERS, search="LLO") == ["Quillon"]
    assert game_server.put_player(world, new, {"Name": "Dragomir", "Level": 5}).status == 200
    assert (names(world, PLAYERS, search="llo"), names(world, PLAYERS, search="gom")) == ([], ["Dragomir"])
    assert world.call("DELETE", f"/api/link/v1/players/{new}", by="Server").status == 200
    assert names(world, PLAYERS, search="gom") == []
    assert world.post(f"{USERS}/Ann/manage/email/change", {"new": "gom@other.test"}).status == 200
    assert (names(world, USERS, search="ann@"), names(world, USERS, search="gom@")) == ([], ["Ann"])
    world.sql("UPDATE users SET fold = 'hildegard' WHERE fold = 'mona'")
    assert names(world, USERS, search="deg") == ["Mona"]
    world.sql("DELETE FROM users WHERE fold = 'hildegard'")
    assert names(world, USERS, search="deg") == []
    add(world, ["Annika"])
    world.sql("UPDATE players SET fold = $1 WHERE name = 'Annika'", f"ann\x01{guid(0x5000)}")
    world.sql("UPDATE users SET email_fold = $1 WHERE name = 'Bob'", f"\x01{guid(0x5000)}")
    for text in ("4000-8000", "000000005000"):
        assert (names(world, PLAYERS, search=text), names(world, USERS, search=text)) == ([], [])
    assert names(world, PLAYERS, search="ann") == ["Ann", "Annika"]
    assert names(world, USERS, search="bob") == ["Bob"]
    assert names(world, USERS, sortBy="email")[0] == "Bob"


def test_short_search_text_is_ignored_and_wildcards_are_literal(shared_world: World) -> None:
    for text in ("", "a", "nn", "e\u0301é"):
        assert names(shared_world, PLAYERS, search=text) == ["Ann", "Bob", "Zoe"]
        assert len(names(shared_world, USERS, search=text)) == len(USER_IDS)
    for text in ("%%%", "___", "'''", '"""', "ann*", "x" * 5000, "Ann OR"):
        assert names(shared_world, PLAYERS, search=text) == []
        assert names(shared_world, USERS, search=text) == []
    for text in ("%00", "an%0an", "%c2%85nn"):
        for path in (PLAYERS, ONLINE, USERS):
            refused(shared_world.get(f"{path}?search={text}"), 400, "bad_field", "'search'")


def test_search_reads_a_limited_number_of_rows(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """All names of feathers have the trigrams of the text, but only one in four contains the text."""
    add(world, [f"Common{number:03}" for number in range(60)], 0x10000)
    given = [f"Quill{'abcd'[number % 4]}feather{number:02}" for number in range(60)]
    add(world, given)
    add_users(world, [(f"{number}", f"{name}@example.test") for number, name in enumerate(given)])
    with monkeypatch.context() as patch:
        patch.setattr(search, "MAX_MATCHES", 25)
        found = names(world, PLAYERS, search="COMMON")
        assert (len(found), found) == (25, sorted(found))
        ranked = names(world, PLAYERS, search="common", sortBy="level", sortDirection="Descending")
        assert sorted(ranked) == found
    for path in (PLAYERS, USERS):
        with monkeypatch.context() as patch:
            patch.setattr(search, "MAX_PARTS", 2)
            assert len(names(world, path, search="quillafeather")) == 15
            patch.setattr(search, "MAX_CANDIDATES", 20)
            assert 0 < len(names(world, path, search="quillafeather")) < 15


def test_players_and_accounts_are_sorted_in_every_order(world: World) -> None:
    add(world, [f"Common{number:03}" for number in range(20)])
    world.post(f"{USERS}/Ann/manage/email/change", {"new": "Zz@example.test"})
    game_server.heartbeat(world)
    game_server.join(world, *[guid(0x5000 + number) for number in range(0, 20, 2)], ANN.id)
    joined = "SELECT p.name FROM players p LEFT JOIN presence o ON o.player_id = p.id WHERE {} ORDER BY {}"
    users_by = "SELECT name FROM users ORDER BY {}"
    for path, text, sort, rows_in_order in (
        (PLAYERS, "omm", "name", joined.format("TRUE", "p.fold")),
        (PLAYERS, "omm", "level", joined.format("TRUE", "p.level, p.exp, p.id")),
        (ONLINE, "omm", "Name", joined.format("o.player_id IS NOT NULL", "p.fold")),
        (ONLINE, "omm", "LEVEL", joined.format("o.player_id IS NOT NULL", "p.level, p.exp, p.id")),
        (USERS, "test", "name", users_by.format("fold")),
        (USERS, "test", "EMAIL", users_by.format("email_fold")),
    ):
        for sought in ("", text):
            wanted = [each for (each,) in world.sql(rows_in_order) if path == USERS or sought in fold(each)]
            assert names(world, path, search=sought, sortBy=sort) == wanted
            assert names(world, path, search=sought, sortby=sort, sortdirection="descENDING") == wanted[::-1]


def test_dropped_search_indexes_are_recreated(world: World) -> None:
    async def without(tx: Writing) -> None:
        await database_checks.drop_indexes(tx)

    world.run(world.keeper.store.write(without))
    for path in (PLAYERS, ONLINE, USERS):
        refused(world.get(f"{path}?search=quill"), 503, "search_not_ready", "import")
        assert world.get(path).status == 200
    add(world, ["Quillon"])
    told = [each.message for each in findings(world, "indexes")]
    assert all(f"The index {name} is missing" in str(told) for name in ("players_by_rank", "users_by_part"))
    findings(world, fix=True)
    assert world.run(database_checks.create_missing_indexes(world.keeper.store)) == []
    assert names(world, PLAYERS, search="quill") == ["Quillon"]
    add(world, ["Quillfeather"], 0x5100)
    assert names(world, PLAYERS, search="quillf") == ["Quillfeather"]
    assert names(world, USERS, search="root@ex") == ["Root"]


@pytest.mark.parametrize("engine", ["sqlite"])
def test_search_index_follows_deletions_and_a_vacuum(world: World) -> None:
    """Rows are re-checked, so stale entries show in no result. VACUUM may change the row numbers of the index."""
    add(world, [f"Common{number:03}" for number in range(60)])
    world.sql("UPDATE players SET fold = 'dragomir' WHERE name = 'Common011'")
    world.sql("DELETE FROM players WHERE name LIKE 'Common0_5' OR name = 'Ann'")
    world.sql("UPDATE users SET email_fold = 'gom@other.test' WHERE name = 'Ann'")
    for index in ("players_by_part", "users_by_part"):
        world.sql(f"INSERT INTO {index} ({index}, rank) VALUES ('integrity-check', 1)")  # noqa: S608 - ours
    writer: Any = world.keeper.store
    writer._writer_db.execute("VACUUM")  # noqa: SLF001 - no statement for it: it runs in no transaction
    left = [f"Common{number:03}" for number in range(10, 20) if number not in (11, 15)]
    assert names(world, PLAYERS, search="common01") == left
