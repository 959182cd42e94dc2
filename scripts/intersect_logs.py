"""Rows of logging.db, the logs of an Intersect server, as each era writes them."""

import uuid
from collections.abc import Iterator

from make_intersect import COIN, SWORD, ZERO, Era, Row, compact, guid

LOGIN, FAILED_LOGIN, BAN = 10, 11, 15
# numbers of actions: in 0.7.0, and in later versions
CREATE_PLAYER, SELECT_PLAYER, NAME_CHANGE, KICK = (17, 23), (19, 25), (21, 27), (16, 17)
KILL = 19  # in later versions only; the number of SelectPlayer in 0.7.0
AUTHORIZATION = "Bearer not-for-anybody"  # stands in the log of requests, which must never be imported
PARTNERS = 6  # players that trade with each other
DAYS = 28  # days of the month that generated times use


def tables(era: Era) -> dict[str, str]:
    """Return the tables of logging.db with their columns, in SQLite's syntax. 0.6 logs only requests."""
    g = era.guid_type
    key = f"Id {g} NOT NULL PRIMARY KEY"
    who = f"UserId {g} NOT NULL, PlayerId {g}, Ip TEXT, TimeStamp TEXT NOT NULL"
    requests = {
        "RequestLogs": f"{key}, Time TEXT, Level INTEGER, Method TEXT, StatusCode INTEGER, StatusMessage TEXT, Uri "
        "TEXT, RequestHeaders TEXT, ResponseHeaders TEXT"
    }
    if not era.guilds:
        return requests
    return requests | {
        "UserActivityHistory": f"{key}, TimeStamp TEXT NOT NULL, UserId {g} NOT NULL, PlayerId {g}, Action INTEGER NOT "
        "NULL, Peer INTEGER NOT NULL, Ip TEXT, Meta TEXT",
        "TradeHistory": f"{key}, TradeId {g} NOT NULL, {who}, TargetId {g} NOT NULL, Items TEXT, TargetItems TEXT",
        "ChatHistory": f"{key}, {who}, MessageType INTEGER NOT NULL, MessageText TEXT, TargetId {g}",
        "GuildHistory": f"{key}, GuildId {g}, {who}, Type INTEGER NOT NULL, Meta TEXT, InitiatorId {g}",
    }


def rows(era: Era, trades: int) -> dict[str, list[Row]]:
    headers = compact({"Authorization": AUTHORIZATION})
    request = (era.guid(guid("request", 0)), "2021-05-01 00:00:00", 2, "GET", 200, "OK", "/api/v1/info", headers, "{}")
    if not era.guilds:
        return {"RequestLogs": [request]}
    zero, player, user = era.guid(ZERO), era.guid(guid("player", 0)), era.guid(guid("user", 0))
    said = (era.guid(guid("chat", 0)), user, player, "10.0.0.1", "2021-05-01 00:00:00", 2, "Hello", zero)
    guild = era.guid(guid("guild", 0))
    joined = (era.guid(guid("joined", 0)), guild, user, player, "10.0.0.1", "2021-06-01 10:00:00", 2, None, zero)
    return {
        "RequestLogs": [request],
        "UserActivityHistory": list(activity(era)),
        "TradeHistory": [row for number in range(trades) for row in trade(era, number)],
        "ChatHistory": [said],
        "GuildHistory": [joined],
    }


def activity(era: Era) -> Iterator[Row]:
    """Yield the log of activity. 0.7.0 has its own numbers of actions; the file of 0.7.1 was upgraded from 0.7.0."""
    if era.name in ("0.7.0", "0.7.1"):
        yield from _activity(era, 0, 2021)
    if era.name != "0.7.0":
        yield from _activity(era, 1, 2023)


def _activity(era: Era, later: int, year: int) -> Iterator[Row]:
    def row(action: int, number: int | None, player: int | None, meta: str | None, peer: int = 0) -> Row:
        nonlocal second
        second += 1
        own = era.guid(guid(f"activity {year}", second))
        owner = ZERO if number is None else guid("user", number)
        who = None if player is None else guid("player", player)
        return (
            own,
            f"{year}-04-21 10:20:{second:02}.0655200",
            era.guid(owner),
            era.guid(who),
            action,
            peer,
            f"10.0.0.{number or 0}",
            meta,
        )

    second = 0
    yield row(LOGIN, 0, None, None)  # early rows have no player
    yield row(SELECT_PLAYER[later], 0, 0, "Hero0,Knight0")
    yield row(FAILED_LOGIN, None, None, "Hero9")
    yield row(CREATE_PLAYER[later], 1, 1, "Hero1,Knight1")
    yield row(KICK[later], 1, 1, "Hero1,Knight1")
    yield row(NAME_CHANGE[later], 2, 2, "Changed name from A to B")
    yield row(BAN, 1, 1, None)
    yield row(LOGIN, 77, None, None, 1)  # an account that was deleted
    yield row(99, 0, 0, "an unknown action")
    if later:
        yield row(KILL, 2, 2, "Hero2,Knight2")


def trade(era: Era, number: int) -> Iterator[Row]:
    """Yield the two rows of a trade, one for each side."""
    one, other = number % PARTNERS, (number + 1) % PARTNERS
    stats = {"StatBuffs": [1, 0, 0, 0, 0]} if era.stats == "StatBuffs" else {"Properties": {"StatModifiers": [1] * 5}}

    def things(item: uuid.UUID, name: str, quantity: int) -> str:
        known = {"BagId": None, "ItemId": str(item), "ItemName": name, "Quantity": quantity}
        return compact([{**known, **stats}])

    given, got = things(SWORD, "Sword", 1), things(COIN, "Coin", 10 + number)
    at = f"2021-07-{number % DAYS + 1:02} 12:00:{number % 60:02}"
    for place, (own, target, mine, yours) in enumerate(((one, other, given, got), (other, one, got, given))):
        keys = (era.guid(guid("trade row", 2 * number + place)), era.guid(guid("trade", number)))
        who = (era.guid(guid("user", own)), era.guid(guid("player", own)), f"10.0.0.{own}", at)
        yield (*keys, *who, era.guid(guid("player", target)), mine, yours)
