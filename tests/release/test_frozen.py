"""Databases of earlier versions: this version opens them, every operation works, every stored answer is replayed."""

from collections.abc import Generator
from functools import partial

import pytest

import everything
from described import BY_NAME, hold, hold_changes
from findings import errors
from frozen_databases import VERSIONS, log_in, thaw, unreplayed
from gamekeeper.game.audit.history import KINDS
from gamekeeper.http.players import player_shapes
from gamekeeper.store.engine import database_checks
from gamekeeper.store.engine.migrate import migrate
from world import World, open_world

pytestmark = pytest.mark.both_engines

# by version: kinds of changes that it did not have yet
NEWER_KINDS = {
    "0.1.0": {
        *("roles_changed", "role_saved", "role_deleted", "user_suspended", "user_resumed"),
        *("second_factors_changed", "second_factors_reset", "identities_changed"),
        *("invitation_sent", "invitation_withdrawn", "change_approved"),
        *("player_killed", "player_warped", "chat_sent", "server_variables_set", "guild_variables_set"),
        *("note_added", "note_deleted", "tags_set"),
        *("board_saved", "board_deleted", "season_saved", "account_hidden"),
        *("signal_raised", "signal_acknowledged", "item_picture_put"),
        *("guild_saved", "guild_deleted", "bulk_job_changed"),
    }
}
RECORD = set(player_shapes.PlayerRecord.__struct_fields__)


@pytest.fixture(params=VERSIONS)
def version(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def frozen(version: str, engine: str, empty_database: str) -> Generator[World]:
    thaw(version, engine, empty_database)
    with open_world(empty_database, {}) as world:
        world.run(migrate(world.keeper.store))
        world.run(database_checks.create_missing_indexes(world.keeper.store))  # as `serve` does after its start
        log_in(world)
        yield world


def test_database_of_earlier_version_works(frozen: World, version: str) -> None:
    assert errors(frozen) == []
    for each in frozen.get("/api/v1/players?pageSize=100").json["Values"]:
        assert each.keys() >= RECORD, each
    assert unreplayed(frozen, version) == []
    for example, answer in everything.run_all(frozen, partial(everything.send, frozen), "Later"):
        assert answer.status == 200, (example.name, answer.raw)
        hold(BY_NAME[example.route.name], answer, 200)
    hold_changes(frozen)
    assert errors(frozen) == []


def test_changes_of_every_kind_are_as_described(frozen: World, version: str) -> None:
    assert hold_changes(frozen) == set(KINDS) - NEWER_KINDS[version]
