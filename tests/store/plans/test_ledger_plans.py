"""Query plans of the audit log: no read grows with it."""

from functools import partial

import pytest

from gamekeeper.demo.names import make_numbered_id
from gamekeeper.game import history, undo
from gamekeeper.store import finder as finder_rows
from gamekeeper.store import history as ledger_rows
from gamekeeper.store import (
    ledger,
)
from gamekeeper.store.history import ALL, BY_ACTOR, NEVER, OF_PLAYER, OF_USER, HistoryFilter
from gamekeeper.store.table import as_table
from people import USER_IDS
from plans import Look, fill_lists, require_none_grows
from world import World

pytestmark = pytest.mark.both_engines

SKEWED = 20_000  # number of changes that all belong to one account and one player


def test_no_read_of_the_ledger_grows_with_it(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """No read grows with the ledger: a page with its undos, a single undo, and the state at an earlier time."""
    monkeypatch.setattr(history, "WINDOW_ROWS", 40)
    monkeypatch.setattr(history, "REWIND_BATCH_ROWS", 40)
    monkeypatch.setattr(history, "MAX_REWOUND", 80)
    fill_lists(world)
    player, user = make_numbered_id("player", 7), make_numbered_id("user", 7)
    _add_changes(world, player, user)
    filters = [
        HistoryFilter(),
        HistoryFilter(accounts=False),
        HistoryFilter(kind="nothing"),
        HistoryFilter(within=OF_PLAYER, whose=player),
        HistoryFilter(within=OF_USER, whose=user, reason="x"),
        HistoryFilter(within=BY_ACTOR, whose=user, item_id=player),
        HistoryFilter(within=ALL, since=1, until=2000, request_id="x"),
        HistoryFilter(within=OF_PLAYER, whose=player, kinds=("nothing", "else")),
        HistoryFilter(within=OF_USER, whose=user, kinds=("nothing",), without_kinds=True),
    ]
    recent = world.run(ledger.read_last(world.keeper.store)) - 40
    moments = [history.PointInTime(seq=recent), history.PointInTime(at=1000 * recent)]
    then = partial(history.load_state_at, key=player, codec=world.keeper.changes.codec)
    [told] = world.run(
        history.load_page(world.keeper.store, HistoryFilter(within=OF_USER, whose=user), None, 1)
    ).changes
    looks: list[Look] = [
        partial(ledger_rows.find_sources_of_notices, notices=[told, told._replace(seq=1500)]),
        *(
            partial(history.load_page, wanted=each, before=before, limit=20)
            for each in filters
            for before in (None, 1500)
        ),
        *(partial(then, moment=at) for at in moments),
        partial(undo.require_change, seq=17),
        *(
            partial(ledger_rows.read_record_before, player_id=player, after=after, field="Equipment", limit=40)
            for after in (0, recent)
        ),
        *(
            partial(
                ledger_rows.find_reported_of_others,
                player_id=player,
                numbers=range(start, start + 40),
                times=(0, NEVER),
                item_ids=[user],
            )
            for start in (1, recent)
        ),
    ]
    require_none_grows(world, looks)


def test_few_changes_are_found_among_many_of_another_player(world: World) -> None:
    """Without our n_distinct settings PostgreSQL would assume that all changes are of one player."""
    one, few = f"CAST('{USER_IDS['Shop']}' AS {{guid}})", USER_IDS["Root"]
    names = "at, kind, over_link, request_id, actor_id, player_id, user_id"
    rows = f"SELECT 0, 'items_given', 1 = 0, '', {one}, {one}, {one} FROM json_each($1)"  # noqa: S608 - words of the test's own
    world.sql("DELETE FROM ledger")
    world.sql(f"INSERT INTO ledger ({names}) {rows}", as_table({"": ""} for _ in range(SKEWED)))
    if world.keeper.store.engine == "postgres":
        world.sql("ANALYZE ledger")
    filters = [HistoryFilter(within=within, whose=few) for within in (OF_PLAYER, OF_USER, BY_ACTOR)]
    looks: list[Look] = [
        *(partial(history.load_page, wanted=each, before=NEVER, limit=20) for each in filters),
        partial(ledger_rows.count_since, player_id=few, seq=0, most=40),
        partial(ledger_rows.read_right_before, player_id=few, before=NEVER, window=40),
        partial(ledger_rows.find_following, player_id=few, after=0, but=()),
        partial(ledger_rows.read_record_before, player_id=few, after=0, field="Equipment", limit=40),
        partial(ledger_rows.read_back, player_id=few, before=NEVER, since=0, limit=40),
        *(partial(ledger_rows.find_erased_players, player_ids=[each]) for each in (few, USER_IDS["Shop"])),
        *(partial(finder_rows.find_deleted, wanted=each) for each in (few, USER_IDS["Shop"])),
    ]
    require_none_grows(world, looks)


def _add_changes(world: World, player: str, user: str) -> None:
    """Insert one change per player, as many again for one player and its account, and some undos."""
    row = f"CAST('{player}' AS {{guid}}), CAST('{user}' AS {{guid}})"
    names = "at, kind, actor_id, over_link, player_id, user_id, before, after, request_id, undoes"
    link = "SELECT api FROM users WHERE fold = 'ann'"
    for whose in ("p.id, p.user_id", row):
        rows = f"SELECT 0, 'player_changed', p.user_id, ({link}), {whose}, '{{}}', '{{}}', '', 0 FROM players p"  # noqa: S608 - words of the test's own
        world.sql(f"INSERT INTO ledger ({names}) {rows}")
    world.sql("UPDATE ledger SET at = 1000 * seq, undoes = CASE WHEN seq > 4500 THEN seq - 4000 END")
    world.sql("UPDATE ledger SET actor_id = $1 WHERE seq > 20", user)
    if world.keeper.store.engine == "postgres":
        world.sql("ANALYZE")
