"""Fill a database with the demo's data, through the same write path as every other change."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from msgspec.structs import replace

from gamekeeper.demo import players, sample_past, world
from gamekeeper.demo.past import DEMO_INTENT, SHOP_KEY, Past, backdate_penalty
from gamekeeper.demo.world import make_numbered_id, make_stable_id
from gamekeeper.game.access import passwords, tokens
from gamekeeper.game.access.changes import UserRegistered
from gamekeeper.game.accounts import accounts
from gamekeeper.game.accounts.changes import UserBanned, UserMuted, UsersLoaded
from gamekeeper.game.core.change import Change, Unlogged
from gamekeeper.game.core.lookup import fold
from gamekeeper.game.core.writes import Decision
from gamekeeper.game.insight import activity
from gamekeeper.game.insight.activity import load_sessions
from gamekeeper.game.keeper import Keeper
from gamekeeper.game.players.changes import PlayersLoaded
from gamekeeper.game.world import catalogue, loads, logs
from gamekeeper.ground.instants import HOUR_MS
from gamekeeper.store.access import api_keys, security_log
from gamekeeper.store.access.roles import Grants
from gamekeeper.store.accounts import users
from gamekeeper.store.accounts.moderation import Penalty
from gamekeeper.store.engine import clock, database_checks
from gamekeeper.store.engine.interface import Reading, Writing
from gamekeeper.store.engine.statements import as_table
from gamekeeper.store.insight import activity as activity_rows
from gamekeeper.store.insight import boards, standings
from gamekeeper.store.players import players as stored_players
from gamekeeper.store.players import presence
from gamekeeper.store.world import catalogue as catalogue_rows
from gamekeeper.store.world.catalogue import Picture

BATCH_SIZE = 10_000
TOKEN_HOURS = 24
FIRST_STATE = "first state"  # label of the change that loads the players


Announce = Callable[[str], None]  # called with a sentence about the stage that begins


class NotADemo(Exception):
    """The database has accounts or players that are not the demo's; the message says what to do."""


@dataclass(frozen=True, slots=True)
class DemoAccess:
    """Log-in data of the demo. The password and the token are not stored in plain text."""

    account: str
    password: str
    wire_password: str  # SHA-256 of the demo account's password, as clients send it
    token: str
    opens_players: bool  # whether `password` is also that of the accounts of the demo's players


def ignore(_: str) -> None:
    """Announce nothing."""


async def fill(keeper: Keeper, password: str, announce: Announce = ignore) -> DemoAccess:
    """Create the demo's data if it is missing, and set the API account's password. Announces each stage."""
    sent = passwords.hash_for_wire(password)
    if await users.find_by_id(keeper.store, make_stable_id("user", world.API_ACCOUNT)) is None:
        await _create(keeper, sent, announce)
    announce("Counting the players' activity.")
    await activity.run_rollups(keeper.store, activity.ROLLUPS, await clock.now(keeper.store), rest_factor=0)
    await _set_password(keeper, sent)
    api, player = [await _load_account(keeper, name) for name in (world.API_ACCOUNT, next(iter(world.ACCOUNTS)))]
    pair = await tokens.issue_for_service(keeper, api, TOKEN_HOURS, read_only=False)
    return DemoAccess(api.name, password, sent, pair.access, await keeper.passwords.is_right(sent, player.password))


async def load_players(keeper: Keeper, wanted: int, advance: Callable[[int], None]) -> None:
    """Load `wanted` numbered players in batches, and skip those that exist.

    After an interrupted load, the next one adds the missing players, indexes and lists.
    """
    with loads.pause_gc():
        for first in range(0, wanted, BATCH_SIZE):
            numbers = range(first, min(first + BATCH_SIZE, wanted))
            await _load_batch(keeper, numbers)
            advance(len(numbers))
    await database_checks.create_missing_indexes(keeper.store)
    await keeper.lists.prepare()


async def _load_batch(keeper: Keeper, numbers: range) -> None:
    try:
        await keeper.changes.apply(DEMO_INTENT, partial(_load, numbers=numbers), lambda _: b"")
    except Exception:  # SQLite and PostgreSQL raise different errors for a duplicate key, so look for the duplicate
        taken = await keeper.store.value(
            stored_players.SQL.name_taken, as_table(_build_claims(number)._asdict() for number in numbers)
        )
        if taken is None:
            raise
        raise NotADemo(
            f"Cannot load the player {taken}: a player or account that is not the demo's has its name or email "
            "address. Players loaded so far stay. Rename the other one and run the same command again, or use another "
            "database with --data DIR or --database URL."
        ) from None


def _build_claims(number: int) -> stored_players.NameClaims:
    """Return the ids, name and email address of a numbered demo player, to find another player that has one of them."""
    player, _ = players.build_numbered_players([number])[0]
    user = players.build_numbered_account(player)
    return stored_players.NameClaims(player.id, user.id, player.name, fold(player.name), fold(user.email))


async def _load(tx: Reading, numbers: range) -> Decision[None]:
    """Decide which players of a batch of numbered demo players to add.

    A batch is one transaction. So if the account of its first player is missing, the whole batch is taken as missing.
    """
    untouched = await users.find_by_id(tx, make_numbered_id("user", numbers.start)) is None
    new = players.build_numbered_players(numbers if untouched else await _find_missing(tx, numbers))
    if not new:
        return Decision([], None)
    owned = set[str]() if untouched else await users.find_known_ids(tx, [player.user_id for player, _ in new])
    now = await clock.now(tx)
    owners = [players.build_numbered_account(player, now) for player, _ in new if player.user_id not in owned]
    unindexed = [loads.DROP_INDEXES] if untouched and not numbers.start else []
    loaded_users = [UsersLoaded(owners)] if owners else []
    return Decision([loads.PAUSE_LISTS, *unindexed, *loaded_users, PlayersLoaded(new), loads.RESUME_LISTS], None)


async def _find_missing(tx: Reading, numbers: range) -> list[int]:
    ids = {number: make_numbered_id("player", number) for number in numbers}
    there = await presence.find_known_players(tx, ids.values())
    return [number for number, player_id in ids.items() if player_id not in there]


async def _create(keeper: Keeper, sent: str, announce: Announce) -> None:
    """Create the demo's catalogue, accounts, players, guilds and past in one transaction: all of them or none."""
    announce("Creating the demo's data. The first start takes up to a minute.")
    announce(f"Hashing the passwords of {1 + len(world.ACCOUNTS)} accounts.")
    hashes = {name: await keeper.passwords.hash_password(sent) for name in (world.API_ACCOUNT, *world.ACCOUNTS)}
    now = await clock.now(keeper.store)
    start, past = sample_past.find_start(now), Past(keeper, now)

    async def create(tx: Reading) -> Decision[None]:
        if await users.count(tx) or await stored_players.count(tx):
            raise NotADemo(
                "This database has accounts or players that are not the demo's, so nothing was changed. Use an empty "
                "database with --data DIR or --database URL. To serve this one, run: gamekeeper serve"
            )
        changes: list[Change | Unlogged] = [loads.load_variables("servervariables", world.SERVER_VARIABLES)]
        for kind, entries in world.CATALOGUE.items():
            changes += (await catalogue.put(tx, kind, entries)).changes
        entries, trades = world.build_logs(now)
        logged = [await logs.add_activity(tx, entries), await logs.add_trades(tx, trades)]
        written = [each for decision in logged for each in decision.changes]
        return Decision([*changes, *_build_accounts(hashes), *written], None)

    past.add(start, DEMO_INTENT, create)
    past.add(start, DEMO_INTENT, partial(_load_rest, now=now), label=FIRST_STATE)
    sample_past.add_past(past, now)
    announce(f"Adding the players, and {sample_past.DAYS} days of changes.")
    await past.apply()
    # Count what the players have at the start of the past. Then the days after it have numbers of holders, and signals
    # find an item whose supply grows: both need complete totals.
    await keeper.economy.catch_up(past.find_last(FIRST_STATE))


async def _load_rest(_: Reading, now: int) -> Decision[None]:
    """Decide on the players, which count as imported, and on what is not in the audit log."""
    guilds, members = players.build_guilds()
    start, sessions = sample_past.find_start(now), sample_past.build_sessions(now)
    seen = {each.player_id: each.ended_at for each in sessions}  # sessions are sorted by time
    named = [
        (replace(player, last_online=seen.get(player.id)), state) for player, state in players.build_named_players()
    ]
    created = {make_stable_id("user", world.API_ACCOUNT): players.FIRST_DAY}
    for player, _state in named:  # an account is as old as its first player
        created.setdefault(player.user_id, player.created_at)
    key = SHOP_KEY._replace(created_at=start, last_used=now // HOUR_MS * HOUR_MS)

    async def record(tx: Writing) -> None:
        """Store numbers of requests, sign-ins, pictures of items and boards, and set times of the past."""
        activity.record_newcomers(tx, sample_past.find_newcomers(sessions))
        tx.defer(activity_rows.SQL.load_requests, as_table(sample_past.build_requests(now)))
        for each in sample_past.build_sign_ins(now):
            tx.defer(security_log.SQL.load_sign_ins, *each)
        api_keys.insert(tx, key)  # without a text: nobody can use it
        await tx.flush()
        tx.defer(api_keys.SQL.backdate, key.id, key.created_at, key.last_used, key.last_address)
        for each in world.ITEMS:
            catalogue_rows.save_picture(tx, each.id, draw_picture(world.DATA.pictures[each.name]))
        for board, seasons in sample_past.build_boards(start):
            boards.insert(tx, board)
            for season in seasons:
                boards.insert_season(tx, season)
                standings.begin(tx, season.id)
        for user_id, at in created.items():
            tx.defer(users.SQL.backdate, user_id, at)

    return Decision(
        [
            PlayersLoaded(named),
            loads.load_variables("guildvariables", world.GUILD_VARIABLES),
            loads.load_guilds(guilds, ()),
            loads.load_memberships(members, ()),
            load_sessions(sessions, start),
            Unlogged(record),
            *(backdate_penalty(name, start, bans=False) for name in world.MUTED),
            *(backdate_penalty(name, start, bans=True) for name in world.BANNED),
        ],
        None,
    )


def _build_accounts(hashes: dict[str, str]) -> list[Change]:
    powers = {world.API_ACCOUNT: world.API_POWERS}
    inhabitants = [
        players.build_account(make_stable_id("user", name), name, password, powers.get(name, world.NO_POWERS))._replace(
            grants=Grants(tuple(filter(None, [world.STAFF_ROLES.get(name)])))
        )
        for name, password in hashes.items()
    ]
    penalties = [
        penalize(user, Penalty(reasons[user.name], world.API_ACCOUNT, None))
        for penalize, reasons in ((UserMuted, world.MUTED), (UserBanned, world.BANNED))
        for user in inhabitants
        if user.name in reasons
    ]
    return [*(UserRegistered(user) for user in inhabitants), *penalties]


async def _set_password(keeper: Keeper, sent: str) -> None:
    api = await _load_account(keeper, world.API_ACCOUNT)
    if await keeper.passwords.is_right(sent, api.password):
        return  # nothing to do; setting the same password again would revoke the demo account's tokens
    stored = await keeper.passwords.hash_password(sent)
    decide = partial(accounts.change_password, key=api.id, password=stored, proven=None)
    await keeper.changes.apply(DEMO_INTENT, decide, lambda _: b"")


async def _load_account(keeper: Keeper, name: str) -> users.User:
    found = await users.find_by_id(keeper.store, make_stable_id("user", name))
    if found is None:
        raise NotADemo(f"The demo's account {name} was deleted. Use another --data DIR or --database URL.")
    return found


PICTURE_SIDE = 16
EDGE = world.DATA.colours["edge"]


def draw_picture(shapes: Sequence[str]) -> Picture:
    from PIL import Image, ImageDraw  # noqa: PLC0415 - imported when the demo is filled

    image = Image.new("RGBA", (PICTURE_SIDE, PICTURE_SIDE))
    pen = ImageDraw.Draw(image)
    for form, colour, *numbers in map(str.split, shapes):
        points, fill = [int(each) for each in numbers], world.DATA.colours.get(colour, colour)
        if form == "line":
            pen.line(points, fill, 2)
        else:
            getattr(pen, form)(points, fill, EDGE)
    return catalogue.encode_picture(catalogue.scale_picture(image))
