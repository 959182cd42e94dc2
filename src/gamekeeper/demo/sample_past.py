"""The last 60 days of the demo's game: purchases, gifts, sanctions, notes, bulk jobs, and two incidents.

The first incident, nine days ago, was noticed: the account was banned, and the items were taken back. The second one is
some hours old, and nobody has looked at it yet.
"""

import random

from gamekeeper.demo import past_jobs, world
from gamekeeper.demo.names import make_stable_id
from gamekeeper.demo.past import API_ID, SHOP_KEY_ID, Gains, Past, Staff
from gamekeeper.demo.past_jobs import GiftJob
from gamekeeper.demo.sample_sessions import DAYS, HOURS, find_start
from gamekeeper.game.calendar_steps import DAY_MS, HOUR_MS, MINUTE_MS
from gamekeeper.game.changes import Intent
from gamekeeper.store.activity import Minute
from gamekeeper.store.catalogue import CatalogueItem
from gamekeeper.store.security import PastSignIn

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
    _add_sanctions(past, start)
    _add_notes(past, start)
    _add_jobs(past, start)
    _add_mistake(past, _find_time(start, 33, 19, 12))
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
        found = _choose_gains(dice)
        if at < end:
            past.report(at, found)
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


def _choose_gains(dice: random.Random) -> Gains:
    """Choose what a player does: buy, sell or find something, or use some of it."""
    player, kind = dice.choice(TRADERS), dice.choice(("buy", "buy", "find", "find", "sell", "use"))
    item, price, most = dice.choice(WARES)
    quantity = dice.randint(1, most)
    if kind == "buy":
        return Gains(player, ((world.COIN, -price * quantity), (item, quantity)))
    if kind == "sell":
        return Gains(player, ((world.HERB, -quantity), (world.COIN, 2 * quantity)))
    if kind == "use":
        return Gains(player, ((item, -quantity),))
    found, many = dice.choice(FINDS)
    return Gains(player, ((found, dice.randint(1, many)),))


def _add_sanctions(past: Past, start: int) -> None:
    past.mute(_find_time(start, 12, 18, 40), MODERATOR, "Horatio", world.PENALTIES["Horatio"], 3)
    past.ban(_find_time(start, 20, 7, 55), MODERATOR, "Ludovic", world.PENALTIES["Ludovic"], 7)
    past.ban(_find_time(start, 30, 21, 5), MODERATOR, "Anselma", world.PENALTIES["Anselma"], 0)
    past.unban(_find_time(start, 31, 9, 20), KEEPER, "Anselma", "the seller was somebody else")
    past.mute(_find_time(start, 40, 20, 31), MODERATOR, "Evangeline", world.PENALTIES["Evangeline"], 7)
    past.mute(_find_time(start, 55, 16, 48), MODERATOR, "Fitzroy", world.PENALTIES["Fitzroy"], 30)


def _add_notes(past: Past, start: int) -> None:
    past.note(_find_time(start, 8, 19, 2), MASTER, "Dorrick", "Asked for his bow back: the logs say that he sold it.")
    past.note(
        _find_time(start, 12, 18, 45), MODERATOR, "Hollis", "Muted for shouting, was polite about it.", warning=True
    )
    past.note(
        _find_time(start, 20, 8, 2),
        MODERATOR,
        world.CYRILLIC_NAME,
        "Fished for 11 hours without a pause.",
        warning=True,
    )
    past.note(_find_time(start, 31, 9, 25), KEEPER, "Ulfgar", "Banned by mistake; apologised, and gave 5 tonics.")
    sorry = _find_time(start, 31, 9, 27)
    past.give(sorry, KEEPER.make_intent(sorry, "banned by mistake"), "Ulfgar", world.TONIC, 5)
    past.note(_find_time(start, 45, 17, 30), MASTER, "Kestrin", "Helps beginners every evening. Ask her for the team?")
    past.tag(_find_time(start, 45, 17, 31), MASTER, "Kestrin", "helper")


def _add_jobs(past: Past, start: int) -> None:
    fed = (*TRADERS[:20], world.FULLEST)
    feast = "harvest feast"
    past_jobs.add_gift(
        past, GiftJob(_find_time(start, 15, 18, 0), KEEPER, feast, world.BREAD, 5, fed, (world.FULLEST,), feast)
    )
    wrong = GiftJob(
        *(_find_time(start, 44, 11, 10), KEEPER, "scrolls", world.SCROLL, 1, TRADERS[5:17], ()),
        "realm-2 was away for an hour",
    )
    past_jobs.add_gift(past, wrong)
    past_jobs.add_undo(past, wrong, wrong.at + 14 * MINUTE_MS, "it was realm-1")
    right = GiftJob(
        *(_find_time(start, 44, 11, 40), KEEPER, "scrolls again", world.SCROLL, 1, TRADERS[:8], ()),
        "realm-1 was away for an hour",
    )
    past_jobs.add_gift(past, right)


def _add_mistake(past: Past, at: int) -> None:
    """Add a gift with two zeros too many, and its undo."""
    past.give(at, MASTER.make_intent(at, "won the riddle contest"), "Maelis", world.COIN, 5000, "mistake")
    past.undo(at + 4 * MINUTE_MS, MASTER, "mistake", "50 were meant")
    later = at + 5 * MINUTE_MS
    past.give(later, MASTER.make_intent(later, "won the riddle contest"), "Maelis", world.COIN, 50)


def _add_first_incident(past: Past, at: int) -> None:
    """Add the incident that was noticed: what the staff did about it within two hours."""
    total = _add_doublings(past, DUPLICATOR, at)
    past.report(at + 40 * MINUTE_MS, Gains(DUPLICATOR, ((world.SHARD, -SOLD), (world.COIN, PROCEEDS))))
    past.report(at + 41 * MINUTE_MS, Gains(PARTNER, ((world.SHARD, SOLD), (world.COIN, -PROCEEDS))))
    seen = at + 85 * MINUTE_MS
    account = "Dagobert"
    past.ban(seen, MODERATOR, account, world.PENALTIES[account], 7)
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
    past.report(at, Gains(player, ((world.SHARD, 8),)))
    gain, total = 8, 8
    for number in range(1, DOUBLINGS + 1):
        past.report(at + number * EVERY_MINUTES * MINUTE_MS, Gains(player, ((world.SHARD, gain),)))
        total += gain
        gain *= 2
    return total


def _find_time(start: int, day: int, hour: int, minute: int) -> int:
    return start + day * DAY_MS + hour * HOUR_MS + minute * MINUTE_MS


def _choose_time(dice: random.Random, start: int, day: int, number: int) -> int:
    """Choose a time of a day; `number` keeps the times of one day apart."""
    hour = dice.choices(range(24), HOURS)[0]
    return _find_time(start, day, hour, dice.randrange(60)) + number * 1000


def _seed_dice(what: str) -> random.Random:
    return random.Random(f"past {what}")  # noqa: S311 - invented data
