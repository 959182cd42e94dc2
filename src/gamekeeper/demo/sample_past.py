"""The last 60 days of the demo's game: sessions, boards, purchases, gifts, sanctions, notes, bulk jobs, two incidents.

More players play in the evening and at weekends. The new players of that time left the game and are erased: only their
sessions are there, under ids of their own. The first incident, nine days ago, was noticed: the account was banned, and
the items were taken back. The second one is some hours old, and nobody has looked at it yet.
"""

import random
from collections.abc import Callable, Iterable, Sequence
from functools import partial

from gamekeeper.demo import past as demo_past
from gamekeeper.demo import world
from gamekeeper.demo.past import API_ID, SHOP_KEY_ID, Gain, GiftJob, Past, Staff
from gamekeeper.demo.world import make_stable_id
from gamekeeper.game.core.lookup import ZERO_GUID
from gamekeeper.game.core.writes import Intent
from gamekeeper.ground.instants import DAY_MS, HOUR_MS, MINUTE_MS, WEEK_DAYS, read_weekday
from gamekeeper.store.access.security_log import PastSignIn
from gamekeeper.store.insight.activity import Minute
from gamekeeper.store.insight.boards import ITEM, LEVEL, PLAY_TIME, Board, Season
from gamekeeper.store.players.presence import SessionOfPlayer
from gamekeeper.store.world.catalogue import CatalogueItem

DAYS = 60
NEW_PLAYERS = 45
SATURDAY = 5
# how likely a session begins in each hour of the day (UTC): few at night, most in the evening
HOURS = (3, 2, 1, 1, 1, 1, 2, 3, 4, 4, 5, 5, 6, 6, 7, 8, 9, 11, 13, 15, 15, 13, 9, 6)
MINUTES = (15, 25, 40, 55, 75, 100, 150)  # lengths of sessions
# probability that a new player is online on its first days, and later
EARLY = (1.0, 0.55, 0.45, 0.4, 0.35, 0.3, 0.3, 0.3)
LATE = 0.12
SERVERS = tuple(world.GAME_SERVERS)
# players who play on one game server only; others play on any
HOMES = {make_stable_id("player", name): server for server, held in world.GAME_SERVERS.items() for name in held}


def find_start(now_ms: int) -> int:
    """Return the first midnight of the demo's past."""
    return (now_ms // DAY_MS - DAYS) * DAY_MS


def build_sessions(now_ms: int) -> list[SessionOfPlayer]:
    """Build the sessions up to the last full hour. Within an hour the result is the same each time."""
    end = now_ms // HOUR_MS * HOUR_MS
    start = find_start(now_ms)
    players = [make_stable_id("player", name) for held in world.ACCOUNTS.values() for name in held]
    regulars = [
        session for number, player_id in enumerate(players) for session in _build_regular(player_id, number, start, end)
    ]
    newcomers = [session for number in range(NEW_PLAYERS) for session in _build_newcomer(number, start, end)]
    return sorted([*regulars, *newcomers], key=lambda each: (each.started_at, each.player_id))


def find_newcomers(sessions: Iterable[SessionOfPlayer]) -> dict[str, int]:
    """Return the first day of each new player."""
    newcomers = {make_stable_id("former player", str(number)) for number in range(NEW_PLAYERS)}
    days: dict[str, int] = {}
    for each in sessions:
        if each.player_id in newcomers:
            days.setdefault(each.player_id, each.started_at // DAY_MS)
    return days


def _build_regular(player_id: str, number: int, start: int, end: int) -> list[SessionOfPlayer]:
    """Build the sessions of a player who has been there before; some take long breaks."""
    dice = random.Random(f"regular {player_id}")  # noqa: S311 - invented data
    zeal = 0.25 + 0.6 * dice.random()
    pause = dice.randrange(DAYS) if number % 4 == 0 else DAYS  # day on which a break of two weeks begins

    def find_chance(day: int) -> float:
        is_away = pause <= day < pause + 2 * WEEK_DAYS
        return 0 if is_away else zeal * (1.3 if read_weekday(start + day * DAY_MS) >= SATURDAY else 0.9)

    return _build_days(player_id, 0, find_chance, start, end, dice)


def _build_newcomer(number: int, start: int, end: int) -> list[SessionOfPlayer]:
    """Build the sessions of a player who was new in this time, and came less and less often."""
    player_id = make_stable_id("former player", str(number))
    dice = random.Random(f"newcomer {number}")  # noqa: S311 - invented data
    first = dice.randrange(DAYS)
    chances = dict(enumerate(EARLY, first))
    return _build_days(player_id, first, lambda day: chances.get(day, LATE), start, end, dice)


def _build_days(
    player_id: str, first: int, find_chance: Callable[[int], float], start: int, end: int, dice: random.Random
) -> list[SessionOfPlayer]:
    return [
        session
        for day in range(first, DAYS + 1)
        if dice.random() < find_chance(day)
        for session in _build_day(player_id, start + day * DAY_MS, end, dice)
    ]


def _build_day(player_id: str, midnight: int, end: int, dice: random.Random) -> list[SessionOfPlayer]:
    """Build one or two sessions of a day; none begins in the last hours, so that they do not overlap the next day."""
    starts = sorted({dice.choices(range(24), HOURS)[0] for _ in range(dice.choice((1, 1, 2)))})
    sessions: list[SessionOfPlayer] = []
    free = midnight
    for hour in starts:
        started = max(free, midnight + hour * HOUR_MS + dice.randrange(50) * MINUTE_MS + dice.randrange(MINUTE_MS))
        ended = min(started + dice.choice(MINUTES) * MINUTE_MS + dice.randrange(MINUTE_MS), midnight + DAY_MS - 1, end)
        if started < ended:
            sessions.append(SessionOfPlayer(player_id, started, HOMES.get(player_id) or dice.choice(SERVERS), ended))
            free = ended + MINUTE_MS
    return sessions


FIRST_SEASON_DAYS = 30


def build_boards(start: int) -> list[tuple[Board, Sequence[Season]]]:
    """Build the boards, from the first midnight of the demo's past on. The follower counts them."""
    middle = start + FIRST_SEASON_DAYS * DAY_MS
    months = (("First month", start, middle), ("Second month", middle, None))
    boards: list[tuple[Board, Sequence[Season]]] = []
    for name, title, ranks, thing_id, periods in (
        ("most-silver", "Most silver earned", ITEM, world.COIN.id, months),
        ("highest-level", "Highest level", LEVEL, None, [("", start, None)]),
        ("most-played", "Most hours played", PLAY_TIME, None, [("", start, None)]),
    ):
        board_id, swept = make_stable_id("board", name), ZERO_GUID if ranks == PLAY_TIME else None
        board = Board(
            board_id, name, title, ranks, thing_id, bool(thing_id), hide_staff=True, public=True, created_at=start
        )
        seasons = [
            Season(make_stable_id("season", f"{name} {number}"), board_id, number, *period, swept=swept)
            for number, period in enumerate(periods, 1)
        ]
        boards.append((board, seasons))
    return boards


KEEPER, MASTER, MODERATOR = Staff(world.API_ACCOUNT), *(Staff(name) for name in world.STAFF_ROLES)
# players who trade; the others stay as they were made
TRADERS = (
    *("Dorrick", "Elowen", "Farrokh", "Gwendry", "Isaura", "Jorunn", "Kestrin", "Lysander", "Maelis", "Orsolya"),
    *("Peregrin", "Quenna", "Ragnfrid", world.CYRILLIC_NAME, "Vashti", "Xanthe", "Yorick", world.ACCENTED_NAME),
    *("Balthus", "Caelith"),
    *("Drustan", "Emrys", "Fenwick", "Ghislain", "Hollis", "Ingrith", "Morwenna", "Sigrun"),
)
REPORTS_PER_DAY = 5
# item, price in coins, and most that is bought at once
WARES = (
    (world.DRAUGHT, 25, 5),
    (world.BREAD, 3, 12),
    (world.ARROW, 1, 60),
    (world.TONIC, 40, 3),
    (world.SCROLL, 60, 2),
)
FINDS = ((world.HERB, 30), (world.ORE, 12), (world.COIN, 140), (world.GEM, 2), (world.SHARD, 4))
ORDERS = ((world.TONIC, 5), (world.SCROLL, 3), (world.GEM, 2), (world.DRAUGHT, 10), (world.SHARD, 6))
KINDNESSES = (
    (world.SWORD, 1, "lost in a crash of realm-2"),
    (world.DRAUGHT, 10, "won the riddle contest"),
    (world.SCROLL, 2, "stuck behind the quarry gate"),
    (world.SHARD, 5, "found a fault in the tutorial"),
    (world.ORE, 40, "ore vanished from the bank"),
    (world.BREAD, 20, "helped new players for a week"),
)
FIRST_INCIDENT_DAY = DAYS - 9
DUPLICATOR, PARTNER, SECOND_DUPLICATOR = "Balthus", "Yorick", "Peregrin"
SOLD, PROCEEDS = 300, 3000  # shards that the first duplicator sold, and the silver that the buyer paid and had with him
FINE = 500  # silver; more than he earned since, so that he does not lead the board of the most silver earned
HOURS_SINCE_SECOND = 3
DOUBLINGS = 11  # each report has twice as many as the one before
EVERY_MINUTES = 3
BROWSERS = {
    KEEPER.name: "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0",
    MASTER.name: "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/141.0 Safari/537.36",
    MODERATOR.name: "Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) AppleWebKit/605.1.15 Safari/604.1",
}
MINUTES_MS = 2 * DAY_MS  # time for which the requests of each minute are kept


def add_past(past: Past, now: int) -> None:
    """Add all changes from the start of the past to the last full hour."""
    start, end = find_start(now), now // HOUR_MS * HOUR_MS
    for day in range(DAYS + 1):
        _add_day(past, day, start, end)
    _add_moderation(past, start)
    _add_jobs(past, start)
    _add_first_incident(past, _find_time(start, FIRST_INCIDENT_DAY, 20, 4))
    _add_doublings(past, SECOND_DUPLICATOR, end - HOURS_SINCE_SECOND * HOUR_MS + 4 * MINUTE_MS)


def build_sign_ins(now: int) -> list[PastSignIn]:
    """Build the sign-ins of staff up to the last full hour."""
    start, end = find_start(now), now // HOUR_MS * HOUR_MS
    found: list[PastSignIn] = []
    for number, staff in enumerate((KEEPER, MASTER, MODERATOR)):
        dice = _seed_dice(f"sign-ins of {staff.name}")
        for day in range(DAYS + 1):
            for hour in sorted(dice.sample(range(7, 23), dice.choice((0, 1, 1, 2, 3)))):
                at = _find_time(start, day, hour, dice.randrange(60))
                event_id = make_stable_id("sign-in", f"{staff.name} {day} {hour}")
                if at < end:
                    address = f"203.0.113.{60 + number}"
                    found.append(PastSignIn(event_id, at, staff.id, address, BROWSERS[staff.name]))
    return found


def build_requests(now: int) -> list[Minute]:
    """Build numbers of requests: of each minute for the last two days, else in one minute of each hour."""
    start, end = find_start(now), now // HOUR_MS * HOUR_MS
    dice, found = _seed_dice("requests"), list[Minute]()
    for hour in range(start // HOUR_MS, end // HOUR_MS):
        requests = HOURS[hour % 24] * dice.randint(20, 32)
        errors = dice.randrange(max(2, requests // 60))
        first = hour * HOUR_MS // MINUTE_MS
        if hour * HOUR_MS < end - MINUTES_MS:
            found.append(Minute(first, requests=requests, errors=errors))
            continue
        for minute in range(60):
            share = requests // 60 + (minute < requests % 60)
            found.append(Minute(first + minute, requests=share, errors=int(minute < errors)))
    return found


def _add_day(past: Past, day: int, start: int, end: int) -> None:
    """Add what happens every day: reports of the game, orders in the shop, and a gift of staff now and then."""
    dice = _seed_dice(f"day {day}")
    for number in range(REPORTS_PER_DAY):
        at = _choose_time(dice, start, day, number)
        player, *gains = _choose_gains(dice)
        if at < end:
            past.report(at, player, *gains)
    for number in range(dice.choice((1, 2, 2, 3))):
        at = _choose_time(dice, start, day, REPORTS_PER_DAY + number)
        item, most = dice.choice(ORDERS)
        player, quantity = dice.choice(TRADERS), dice.randint(1, most)
        if at < end:
            _order(past, at, f"order {1000 + 4 * day + number}", player, item, quantity)
    at, kind = _choose_time(dice, start, day, 10), dice.choice(KINDNESSES)
    player, master = dice.choice(TRADERS), dice.choice((MASTER, MASTER, KEEPER))
    if day % 2 and at < end:
        item, quantity, reason = kind
        past.give(at, master.make_intent(at, reason), player, item, quantity)


def _order(past: Past, at: int, order: str, player: str, item: CatalogueItem, quantity: int) -> None:
    past.give(at, Intent(f"demo-{at}", API_ID, SHOP_KEY_ID, reason=order), player, item, quantity)


def _choose_gains(dice: random.Random) -> tuple[str, *tuple[Gain, ...]]:
    """Choose a player and what it does: buy, sell or find something, or use some of it."""
    player, kind = dice.choice(TRADERS), dice.choice(("buy", "buy", "find", "find", "sell", "use"))
    item, price, most = dice.choice(WARES)
    quantity = dice.randint(1, most)
    if kind == "buy":
        return player, (world.COIN, -price * quantity), (item, quantity)
    if kind == "sell":
        return player, (world.HERB, -quantity), (world.COIN, 2 * quantity)
    if kind == "use":
        return player, (item, -quantity)
    found, many = dice.choice(FINDS)
    return player, (found, dice.randint(1, many))


def _add_moderation(past: Past, start: int) -> None:
    """Add sanctions, notes, and a gift with two zeros too many, which is undone."""
    at = partial(_find_time, start)
    sorry, given, corrected = at(31, 9, 27), at(33, 19, 12), at(33, 19, 17)
    past.penalize(at(12, 18, 40), MODERATOR, "Horatio", 3, bans=False)
    past.penalize(at(20, 7, 55), MODERATOR, "Ludovic", 7, bans=True)
    past.penalize(at(30, 21, 5), MODERATOR, "Anselma", 0, bans=True)
    past.unban(at(31, 9, 20), KEEPER, "Anselma", "the seller was somebody else")
    past.penalize(at(40, 20, 31), MODERATOR, "Evangeline", 7, bans=False)
    past.penalize(at(55, 16, 48), MODERATOR, "Fitzroy", 30, bans=False)
    past.note(at(8, 19, 2), MASTER, "Dorrick", "Asked for his bow back: the logs say that he sold it.")
    past.note(at(12, 18, 45), MODERATOR, "Hollis", "Muted for shouting, was polite about it.", warning=True)
    past.note(at(20, 8, 2), MODERATOR, world.CYRILLIC_NAME, "Fished for 11 hours without a pause.", warning=True)
    past.note(at(31, 9, 25), KEEPER, "Ulfgar", "Banned by mistake; apologised, and gave 5 tonics.")
    past.give(sorry, KEEPER.make_intent(sorry, "banned by mistake"), "Ulfgar", world.TONIC, 5)
    past.note(at(45, 17, 30), MASTER, "Kestrin", "Helps beginners every evening. Ask her for the team?")
    past.tag(at(45, 17, 31), MASTER, "Kestrin", "helper")
    past.give(given, MASTER.make_intent(given, "won the riddle contest"), "Maelis", world.COIN, 5000, "mistake")
    past.undo(at(33, 19, 16), MASTER, "mistake", "50 were meant")
    past.give(corrected, MASTER.make_intent(corrected, "won the riddle contest"), "Maelis", world.COIN, 50)


def _add_jobs(past: Past, start: int) -> None:
    at, full, feast = partial(_find_time, start), (world.FULLEST,), "harvest feast"
    fed = (*TRADERS[:20], *full)
    demo_past.add_gift(past, GiftJob(at(15, 18, 0), KEEPER, feast, world.BREAD, 5, fed, full, feast))
    scrolls = partial(GiftJob, by=KEEPER, item=world.SCROLL, quantity=1, full=())
    wrong = scrolls(at(44, 11, 10), name="scrolls", players=TRADERS[5:17], reason="realm-2 was away for an hour")
    demo_past.add_gift(past, wrong)
    demo_past.add_undo(past, wrong, at(44, 11, 24), "it was realm-1")
    right = scrolls(at(44, 11, 40), name="scrolls again", players=TRADERS[:8], reason="realm-1 was away for an hour")
    demo_past.add_gift(past, right)


def _add_first_incident(past: Past, at: int) -> None:
    """Add the incident that was noticed: what the staff did about it within two hours."""
    total = _add_doublings(past, DUPLICATOR, at)
    past.report(at + 40 * MINUTE_MS, DUPLICATOR, (world.SHARD, -SOLD), (world.COIN, PROCEEDS))
    past.report(at + 41 * MINUTE_MS, PARTNER, (world.SHARD, SOLD), (world.COIN, -PROCEEDS))
    seen = at + 85 * MINUTE_MS
    past.penalize(seen, MODERATOR, "Dagobert", 7, bans=True)
    text = "More than 16,000 Comet Shards in half an hour: two windows in one trade."
    past.note(seen + MINUTE_MS, MODERATOR, DUPLICATOR, text, warning=True)
    past.tag(seen + 2 * MINUTE_MS, MODERATOR, DUPLICATOR, "duplication")
    past.note(seen + 3 * MINUTE_MS, MODERATOR, PARTNER, f"Bought {SOLD} of the duplicated shards; did not know.")
    taken, reason = seen + 12 * MINUTE_MS, "duplicated in the trade window"
    past.take(taken, MASTER.make_intent(taken, reason), DUPLICATOR, world.SHARD, total - SOLD)
    past.take(taken + MINUTE_MS, MASTER.make_intent(taken, reason), PARTNER, world.SHARD, SOLD)
    paid, reason = taken + 2 * MINUTE_MS, "paid for duplicated shards, given back to the buyer"
    past.take(paid, MASTER.make_intent(paid, reason), DUPLICATOR, world.COIN, PROCEEDS)
    past.give(paid + MINUTE_MS, MASTER.make_intent(paid, reason), PARTNER, world.COIN, PROCEEDS)
    past.take(paid + 2 * MINUTE_MS, MASTER.make_intent(paid, "fine for the fraud"), DUPLICATOR, world.COIN, FINE)


def _add_doublings(past: Past, player: str, at: int) -> int:
    """Add reports in which a player has twice as many shards each time; return how many came into being."""
    gains = [8, *(8 << number for number in range(DOUBLINGS))]
    for number, gain in enumerate(gains):
        past.report(at + number * EVERY_MINUTES * MINUTE_MS, player, (world.SHARD, gain))
    return sum(gains)


def _find_time(start: int, day: int, hour: int, minute: int) -> int:
    return start + day * DAY_MS + hour * HOUR_MS + minute * MINUTE_MS


def _choose_time(dice: random.Random, start: int, day: int, number: int) -> int:
    """Choose a time of a day; `number` keeps the times of one day apart."""
    hour = dice.choices(range(24), HOURS)[0]
    return _find_time(start, day, hour, dice.randrange(60)) + number * 1000


def _seed_dice(what: str) -> random.Random:
    return random.Random(f"past {what}")  # noqa: S311 - invented data
