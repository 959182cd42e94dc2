"""Plans of what rules ask: lists, searches, filters and the audit log read no more rows in a larger game."""

from functools import partial
from itertools import product
from typing import Any

import pytest

from gamekeeper.demo.world import make_numbered_id, make_numbered_name
from gamekeeper.game.audit import history, undo
from gamekeeper.game.lists import account_filters, player_filters, search
from gamekeeper.game.lists.account_filters import AccountFilter
from gamekeeper.game.lists.list_index import LISTS, SPLIT_ROWS, ListDefinition
from gamekeeper.game.lists.ordered_lists import Lists
from gamekeeper.game.lists.player_filters import ORDERS, Cursor, PageWanted
from gamekeeper.game.lists.player_walks import HIGHEST_ID, NEVER_SEEN, QUANTITY, SEEN, Order, PlayerFilter
from gamekeeper.game.world import guilds as guild_rules
from gamekeeper.game.world.guilds import GuildSlice
from gamekeeper.store.audit import history as ledger_rows
from gamekeeper.store.audit.history import ALL, BY_ACTOR, NEVER, OF_PLAYER, OF_USER, HistoryFilter
from gamekeeper.store.core import ledger
from gamekeeper.store.engine.interface import Reading
from gamekeeper.store.engine.statements import as_table
from gamekeeper.store.lists import player_filters as filter_rows
from gamekeeper.store.lists import search as search_rows
from gamekeeper.store.world import guilds
from people import COIN, USER_IDS, WARRIOR
from plans import ONLINE, WORDS, Asked, Look, Watched, fill_lists, find_growing, require_none_grows
from world import World

pytestmark = pytest.mark.both_engines

PLAYER, USER, NAME = make_numbered_id("player", 7), make_numbered_id("user", 7), make_numbered_name(7)
NEEDED = (
    *("news", "records_from_rank", "records_from_name", "from_name"),
    *("keys_by_rank", "keys_by_name", "rank_key_by_fold", "records_around_rank"),
)


def analyze(world: World) -> None:
    """Update the statistics for PostgreSQL's planner. SQLite's has none."""
    if world.keeper.store.engine == "postgres":
        world.sql("ANALYZE")


def find_faults(world: World, asked: Asked) -> list[tuple[str, list[str]]]:
    """Return the statements that grow with the game, and the steps of their plans that do."""
    engine = world.keeper.store.engine
    found = [(each.name, find_growing(world, each.render(engine, WORDS[engine]), asked[each])) for each in asked]
    return [(name, steps) for name, steps in found if steps]


# --- lists and searches ----------------------------------------------------------------------------------------------


def test_no_statement_of_a_list_grows_with_it(world: World) -> None:
    fill_lists(world)
    asked = _list_asked(world)
    assert not [name for name in NEEDED if not any(each.name.endswith(name) for each in asked)]
    assert find_faults(world, asked) == []


def _list_asked(world: World) -> Asked:
    """Return the statements that the ordered lists run once loaded: for pages, for a rank, and to split buckets."""
    asked: Asked = {}
    store: Any = Watched(world.keeper.store, asked)
    ours = Lists(store)
    world.run(ours.prepare())
    world.run(ours.maintain())
    # forget the statements so far: the index of the lists is loaded once per process, and its buckets are split rarely
    asked.clear()
    for listing in LISTS:
        for offset in (0, ONLINE // 2, ONLINE - 5):
            world.run(ours.load_page(listing, offset, 5))
        world.run(_read_keys(listing, store))
    world.run(ours.find_rank(NAME, 5))
    return asked


async def _read_keys(listing: ListDefinition[Any], tx: Reading) -> None:
    """Read list keys as the maintenance of the lists does to split a full bucket."""
    await listing.load_keys(tx, listing.lowest_key, SPLIT_ROWS)


@pytest.fixture
def few_matches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lower the limits of searches, because the test has fewer players and shorter texts than a real game."""
    monkeypatch.setattr(search, "MAX_MATCHES", 50)
    monkeypatch.setattr(search, "MAX_CANDIDATES", 100)
    monkeypatch.setattr(search, "MAX_PARTS", 2)
    monkeypatch.setattr(search, "MAX_CANDIDATES_PER_KIND", 100)


@pytest.mark.usefixtures("few_matches")
def test_no_search_grows_with_the_list(world: World) -> None:
    """No search reads more in a longer list: for frequent texts, for missing ones, and for frequent trigrams."""
    fill_lists(world)
    faults: list[object] = []
    for text in ("example", "test", "bab", NAME.lower(), "zzz", "example.tesx", "examqle.test"):
        for sort in (*search.PLAYERS.values(), *search.ONLINE_PLAYERS.values(), *search.ACCOUNTS.values()):
            asked: Asked = {}
            tx: Any = Watched(world.keeper.store, asked)
            world.run(sort.records(tx, [each.id for each in world.run(sort.find(tx, text)).found][:5]))
            faults += [(text, *each) for each in find_faults(world, asked)]
    assert not faults


@pytest.mark.usefixtures("few_matches")
def test_listing_bans_mutes_or_permissions_does_not_grow_with_accounts(world: World) -> None:
    """These lists read no more rows if nearly all accounts have a ban or mute, be it ended or in force."""
    finds = [account_filters.make_sorts(AccountFilter(each))["name"].find for each in account_filters.STATES]
    every: list[Look] = [lambda tx, find=find: find(tx, "") for find in finds]
    named: list[Look] = [lambda tx, find=find: find(tx, "example") for find in finds]
    among = partial(search_rows.filter_with_powers, ids=[make_numbered_id("user", number) for number in range(50)])
    for bans_end, mutes_end, in_force in ((1, 1, 2), (None, NEVER, search.MAX_MATCHES)):
        _punish_all(world, "bans", bans_end)
        _punish_all(world, "mutes", mutes_end)
        assert [len(world.run(find(world.keeper.store, "")).found) for find in finds] == [in_force, in_force, 4]
        require_none_grows(world, [*every, *named])
    world.sql("UPDATE users SET mute = {true}")
    require_none_grows(world, [*every, among])


def _punish_all(world: World, table: str, ends_at: int | None) -> None:
    """Give all accounts a ban or mute with this end, except one permanent and one very long one."""
    world.sql(f"DELETE FROM {table}")  # noqa: S608 - a name of the test's own
    end = f"CASE id WHEN $2 THEN NULL WHEN $3 THEN {NEVER} ELSE CAST($1 AS {{long}}) END"
    rows = f"SELECT id, '', '', 0, {end} FROM users"  # noqa: S608 - words of the test's own
    spared = (make_numbered_id("user", each) for each in (1, 2))
    world.sql(f"INSERT INTO {table} (user_id, reason, moderator, started_at, ends_at) {rows}", ends_at, *spared)
    analyze(world)


@pytest.mark.usefixtures("few_matches")
def test_filtered_accounts_do_not_grow_with_accounts(world: World) -> None:
    """A page reads no more rows if nearly all accounts have the role, and have signed in several times."""
    fill_lists(world)
    world.sql("INSERT INTO user_roles (user_id, role, given_at) SELECT id, 'moderator', 1 FROM users")
    event = "INSERT INTO security_events (id, at, kind, user_id)"
    for table, hour in (("users", 1), ("players", 2)):  # the events of players stand for those of deleted accounts
        world.sql(f"{event} SELECT id, {hour}000 + length(fold), 'sign_in', id FROM {table}")  # noqa: S608 - words of the test's own
    analyze(world)
    filters = [
        AccountFilter(role="moderator"),
        AccountFilter(role="api"),
        AccountFilter(signed_in_from=1),
        AccountFilter(signed_in_to=1_500),
        AccountFilter("banned", "moderator", 1, 1_500),
    ]
    finds = [account_filters.make_sorts(each)["name"].find for each in filters]
    looks: list[Look] = [lambda tx, find=find, text=text: find(tx, text) for find in finds for text in ("", "example")]
    require_none_grows(world, looks)
    assert [len(world.run(find(world.keeper.store, "")).found) for find in finds] == [50, 4, 0, 50, 0]


@pytest.mark.usefixtures("few_matches")
def test_global_search_does_not_grow_with_the_game(world: World) -> None:
    """Search everything by id, prefix, substring and typing error, for texts in no name, one name and all names."""
    fill_lists(world)
    slipped = NAME[1] + NAME[0] + NAME[2:]
    sight = search.Sight(accounts=True, changes=True)
    find = partial(search.find, most=20, codec=world.keeper.changes.codec, sight=sight)
    texts = (NAME, slipped, "bab", "example", "zzzzzzz", "ba", "e", "17", PLAYER)
    require_none_grows(world, [partial(find, text=text) for text in texts])


# --- guilds ----------------------------------------------------------------------------------------------------------

LARGE, SMALL = make_numbered_id("player", 1), PLAYER  # ids of guilds: nearly all players are in LARGE


def fill_guilds(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make as many guilds as players, and lower the limits, because the test has fewer guilds than they allow."""
    world.sql(
        "INSERT INTO guilds (id, name, fold, founded_at) "
        "SELECT id, name, fold, row_number() OVER (ORDER BY id) FROM players"
    )
    guild = "CAST(CASE WHEN level % 100 = 1 THEN $1 ELSE $2 END AS {guid})"
    world.sql(f"INSERT INTO guild_members (player_id, guild_id, rank) SELECT id, {guild}, 1 FROM players", SMALL, LARGE)  # noqa: S608 - ours
    analyze(world)
    for limit in ("MAX_GUILDS", "MAX_MATCHES", "MAX_MEMBERS"):
        monkeypatch.setattr(guild_rules, limit, 100)


def test_no_page_of_guilds_or_members_grows(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    fill_guilds(world, monkeypatch)
    looks: list[Look] = [
        *(
            partial(guild_rules.load_members, guild_id=guild, part=GuildSlice(offset, 20, "level"), search=text)
            for guild, offset, text in product((LARGE, SMALL), (0, 80), ("", "bab"))
        ),
        partial(guild_rules.require, guild_id=SMALL),
        partial(guilds.read_memberships, player_ids=[SMALL]),
        partial(guilds.lock_all, ids=[SMALL]),
    ]
    require_none_grows(world, looks)
    if world.keeper.store.engine == "sqlite":  # it reads lists in the order of an index, and ends at the LIMIT
        asked: Asked = {
            **dict.fromkeys((guilds.SQL.by_name, guilds.SQL.by_members_desc, guilds.SQL.by_founding), (20, 80)),
            guilds.SQL.called: ("bab", 100, 100),
        }
        for name, steps in find_faults(world, asked):
            assert [each.startswith("SCAN guilds USING INDEX guilds_by_") for each in steps] == [True], name
        return
    pages = product((0, 80), ("name", "members", "foundingdate"), (False, True), ("", "bab"))
    require_none_grows(world, [
        partial(guild_rules.load_page, part=GuildSlice(offset, 20, sort, descending), search=text)
        for offset, sort, descending, text in pages
    ])  # fmt: skip


# --- filtered lists of players ---------------------------------------------------------------------------------------

CROWDED, RARE = WARRIOR.id, make_numbered_id("player", 3)
FILTERS = (
    PlayerFilter(),
    PlayerFilter(class_id=CROWDED),
    PlayerFilter(class_id=RARE),
    PlayerFilter(map_id=CROWDED),
    PlayerFilter(map_id=RARE),
    PlayerFilter(map_id=CROWDED, class_id=RARE),
    PlayerFilter(level_from=2, level_to=100),
    PlayerFilter(seen_from=1),
    PlayerFilter(seen_to=10**15),
    PlayerFilter(banned=True),
    PlayerFilter(banned=False),
    PlayerFilter(online=True),
    PlayerFilter(online=False),
    PlayerFilter(item_id=COIN.id),
    PlayerFilter(item_id=RARE),
    PlayerFilter(item_id=COIN.id, banned=False, level_from=3, online=True),
)


def test_no_filter_reads_more_rows_in_a_larger_game(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """All players but one have the same class, map and item, and all accounts are banned."""
    small = 50  # limit of what a page reads and sorts; the crowd has 4000 players
    for name in ("MAX_SORTED", "MAX_SEARCHED", "BATCH_ROWS"):
        monkeypatch.setattr(player_filters, name, small)
    fill_lists(world)
    world.sql("UPDATE players SET class_id = $1, map_id = $1", CROWDED)
    world.sql("UPDATE players SET class_id = $1, map_id = $1, last_online = NULL WHERE id = $1", RARE)
    world.sql("INSERT INTO holdings SELECT id, 'item', CAST($1 AS {guid}), exp FROM players", COIN.id)
    ban = "id, '', '', 1, CASE WHEN fold < 'm' THEN 2 END"
    world.sql(f"INSERT INTO bans (user_id, reason, moderator, started_at, ends_at) SELECT {ban} FROM users")  # noqa: S608 - ours
    analyze(world)
    faults, known = list[object](), set[object]()
    never_seen = Cursor(Order(SEEN, descending=True), (NEVER_SEEN, 0, HIGHEST_ID))
    for wanted, order, descending in product(FILTERS, (None, *ORDERS), (False, True)):
        if order == QUANTITY and not wanted.item_id:
            continue
        asked: Asked = {}
        tx: Any = Watched(world.keeper.store, asked)
        page = PageWanted(small, order, descending)
        first = world.run(player_filters.find(tx, wanted, page))
        if first.next:
            world.run(player_filters.find(tx, wanted, page._replace(cursor=first.next)))
        world.run(player_filters.find(tx, PlayerFilter(), PageWanted(small, cursor=never_seen)))
        known |= asked.keys()
        asked.pop(filter_rows.SQL.indexed, None)  # reads the list of indexes
        faults += [(wanted, order, each) for each in find_faults(world, asked)]
    assert not faults, "\n".join(map(str, faults))
    assert {name for name, each in filter_rows.SQL.named.items() if each not in known} == set()


# --- the audit log and deliveries ------------------------------------------------------------------------------------

SKEWED = 20_000  # number of changes that all belong to one account and one player


def test_no_read_of_the_ledger_grows_with_it(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """No read grows with the ledger: a page with its undos, a single undo, and the state at an earlier time."""
    monkeypatch.setattr(history, "WINDOW_ROWS", 40)
    monkeypatch.setattr(history, "REWIND_BATCH_ROWS", 40)
    monkeypatch.setattr(history, "MAX_REWOUND", 80)
    fill_lists(world)
    _add_changes(world)
    of_user = HistoryFilter(within=OF_USER, whose=USER)
    filters = [
        HistoryFilter(),
        HistoryFilter(accounts=False),
        HistoryFilter(kind="nothing"),
        HistoryFilter(within=OF_PLAYER, whose=PLAYER),
        of_user._replace(reason="x"),
        HistoryFilter(within=BY_ACTOR, whose=USER, item_id=PLAYER),
        HistoryFilter(within=ALL, since=1, until=2000, request_id="x"),
        HistoryFilter(within=OF_PLAYER, whose=PLAYER, kinds=("nothing", "else")),
        of_user._replace(kinds=("nothing",), without_kinds=True),
    ]
    recent = world.run(ledger.read_last(world.keeper.store)) - 40
    moments = [history.PointInTime(seq=recent), history.PointInTime(at=1000 * recent)]
    then = partial(history.load_state_at, key=PLAYER, codec=world.keeper.changes.codec)
    record = partial(ledger_rows.read_record_before, player_id=PLAYER, field="Equipment", limit=40)
    reported = partial(ledger_rows.find_reported_of_others, player_id=PLAYER, times=(0, NEVER), item_ids=[USER])
    [told] = world.run(history.load_page(world.keeper.store, of_user, None, 1)).changes
    looks: list[Look] = [
        partial(ledger_rows.find_sources_of_notices, notices=[told, told._replace(seq=1500)]),
        *(
            partial(history.load_page, wanted=each, before=before, limit=20)
            for each, before in product(filters, (None, 1500))
        ),
        *(partial(then, moment=at) for at in moments),
        partial(undo.require_change, seq=17),
        *(partial(record, after=after) for after in (0, recent)),
        *(partial(reported, numbers=range(start, start + 40)) for start in (1, recent)),
    ]
    require_none_grows(world, looks)


def _add_changes(world: World) -> None:
    """Insert one change per player, as many again for one player and its account, and some undos."""
    row = f"CAST('{PLAYER}' AS {{guid}}), CAST('{USER}' AS {{guid}})"
    names = "at, kind, actor_id, over_link, player_id, user_id, before, after, request_id, undoes"
    link = "SELECT api FROM users WHERE fold = 'ann'"
    for whose in ("p.id, p.user_id", row):
        rows = f"SELECT 0, 'player_changed', p.user_id, ({link}), {whose}, '{{}}', '{{}}', '', 0 FROM players p"  # noqa: S608 - words of the test's own
        world.sql(f"INSERT INTO ledger ({names}) {rows}")
    world.sql("UPDATE ledger SET at = 1000 * seq, undoes = CASE WHEN seq > 4500 THEN seq - 4000 END")
    world.sql("UPDATE ledger SET actor_id = $1 WHERE seq > 20", USER)
    analyze(world)


def test_few_changes_are_found_among_many_of_another_player(world: World) -> None:
    """Without our n_distinct settings PostgreSQL would assume that all changes are of one player."""
    one, few = f"CAST('{USER_IDS['Shop']}' AS {{guid}})", USER_IDS["Root"]
    names = "at, kind, over_link, request_id, actor_id, player_id, user_id"
    rows = f"SELECT 0, 'items_given', 1 = 0, '', {one}, {one}, {one} FROM json_each($1)"  # noqa: S608 - words of the test's own
    world.sql("DELETE FROM ledger")
    world.sql(f"INSERT INTO ledger ({names}) {rows}", as_table({"": ""} for _ in range(SKEWED)))
    analyze(world)
    filters = [HistoryFilter(within=within, whose=few) for within in (OF_PLAYER, OF_USER, BY_ACTOR)]
    looks: list[Look] = [
        *(partial(history.load_page, wanted=each, before=NEVER, limit=20) for each in filters),
        partial(ledger_rows.count_since, player_id=few, seq=0, most=40),
        partial(ledger_rows.read_right_before, player_id=few, before=NEVER, window=40),
        partial(ledger_rows.find_following, player_id=few, after=0, but=()),
        partial(ledger_rows.read_record_before, player_id=few, after=0, field="Equipment", limit=40),
        partial(ledger_rows.read_back, player_id=few, before=NEVER, since=0, limit=40),
        *(partial(ledger_rows.find_erased_players, player_ids=[each]) for each in (few, USER_IDS["Shop"])),
        *(lambda tx, each=each: tx.all(search_rows.SQL.deleted, each) for each in (few, USER_IDS["Shop"])),
    ]
    require_none_grows(world, looks)
