"""Query plans of guilds: no page reads more with more guilds, or with more members of other guilds."""

from functools import partial

import pytest

from gamekeeper.demo.names import make_numbered_id
from gamekeeper.game import guilds as rules
from gamekeeper.game.guilds import GuildSlice
from gamekeeper.store import guilds
from plans import PLAYERS, WORDS, Look, find_growing, require_none_grows
from world import World

pytestmark = pytest.mark.both_engines

LARGE, SMALL = (
    make_numbered_id("player", 1),
    make_numbered_id("player", 7),
)  # ids of guilds: nearly all players are in LARGE


def fill(world: World) -> None:
    """Make as many guilds as players; nearly all players are in one of them."""
    world.sql(
        "INSERT INTO guilds (id, name, fold, founded_at) "
        "SELECT id, name, fold, row_number() OVER (ORDER BY id) FROM players"
    )
    world.sql(
        "INSERT INTO guild_members (player_id, guild_id, rank) SELECT id, "
        "CAST(CASE WHEN level % 100 = 1 THEN $1 ELSE $2 END AS {guid}), 1 FROM players",
        SMALL,
        LARGE,
    )
    if world.keeper.store.engine == "postgres":
        world.sql("ANALYZE")


def test_no_page_of_guilds_or_members_grows(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """The limits are lowered, because the test has fewer guilds than they allow."""
    fill(world)
    for limit in ("MAX_GUILDS", "MAX_MATCHES", "MAX_MEMBERS"):
        monkeypatch.setattr(rules, limit, 100)
    looks: list[Look] = [
        *(
            partial(rules.load_members, guild_id=guild, part=GuildSlice(offset, 20, "level"), search=text)
            for guild in (LARGE, SMALL)
            for offset in (0, 80)
            for text in ("", "bab")
        ),
        partial(rules.require, guild_id=SMALL),
        partial(guilds.read_memberships, player_ids=[SMALL]),
        partial(guilds.lock_all, ids=[SMALL]),
    ]
    require_none_grows(world, looks)
    if world.keeper.store.engine == "postgres":
        require_none_grows(
            world,
            [
                partial(rules.load_page, part=GuildSlice(offset, 20, sort, descending), search=text)
                for offset in (0, 80)
                for sort in ("name", "members", "foundingdate")
                for descending in (False, True)
                for text in ("", "bab")
            ],
        )
    else:
        _require_index_order(world)


def test_page_after_the_last_one_reads_nothing(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(world)
    monkeypatch.setattr(rules, "MAX_GUILDS", 100)

    async def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a page was read")

    monkeypatch.setattr(guilds, "read_page", refuse)
    for offset in (100, PLAYERS, 2**31 * 100):
        assert world.run(rules.load_page(world.keeper.store, GuildSlice(offset, 20))) == (100, ())


def _require_index_order(world: World) -> None:
    """Require that SQLite reads lists in the order of an index, which ends at the LIMIT; its plans show no numbers."""
    for statement in (guilds.SQL.by_name, guilds.SQL.by_members_desc, guilds.SQL.by_founding):
        [step] = find_growing(world, statement.render("sqlite", WORDS["sqlite"]), (20, 80))
        assert step.startswith("SCAN guilds USING INDEX guilds_by_")
    [step] = find_growing(world, guilds.SQL.called.render("sqlite", WORDS["sqlite"]), ("bab", 100, 100))
    assert step == "SCAN guilds USING INDEX guilds_by_name"
