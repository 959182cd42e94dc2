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
    """Return the tables of logging.db with their columns. 0.6 logs only requests."""
    who = "UserId GUID NOT NULL, PlayerId GUID, Ip TEXT, TimeStamp TEXT NOT NULL"
    requests = {
        "RequestLogs": "KEY, Time TEXT, Level INTEGER, Method TEXT, StatusCode INTEGER, StatusMessage TEXT, Uri TEXT, "
        "RequestHeaders TEXT, ResponseHeaders TEXT"
    }
    others = {
        "UserActivityHistory": "KEY, TimeStamp TEXT NOT NULL, UserId GUID NOT NULL, PlayerId GUID, Action INTEGER NOT "
        "NULL, Peer INTEGER NOT NULL, Ip TEXT, Meta TEXT",
        "TradeHistory": f"KEY, TradeId GUID NOT NULL, {who}, TargetId GUID NOT NULL, Items TEXT, TargetItems TEXT",
        "ChatHistory": f"KEY, {who}, MessageType INTEGER NOT NULL, MessageText TEXT, TargetId GUID",
        "GuildHistory": f"KEY, GuildId GUID, {who}, Type INTEGER NOT NULL, Meta TEXT, InitiatorId GUID",
    }
    return requests | others if era.guilds else requests


def rows(era: Era, trades: int) -> dict[str, list[Row]]:
    headers = compact({"Authorization": AUTHORIZATION})
    request = (guid("request", 0), "2021-05-01 00:00:00", 2, "GET", 200, "OK", "/api/v1/info", headers, "{}")
    if not era.guilds:
        return {"RequestLogs": [request]}
    who = (guid("user", 0), guid("player", 0), "10.0.0.1")
    return {
        "RequestLogs": [request],
        "UserActivityHistory": list(activity(era)),
        "TradeHistory": [row for number in range(trades) for row in trade(era, number)],
        "ChatHistory": [(guid("chat", 0), *who, "2021-05-01 00:00:00", 2, "Hello", ZERO)],
        "GuildHistory": [(guid("joined", 0), guid("guild", 0), *who, "2021-06-01 10:00:00", 2, None, ZERO)],
    }


def activity(era: Era) -> Iterator[Row]:
    """Yield the log of activity. 0.7.0 has its own numbers of actions; the file of 0.7.1 was upgraded from 0.7.0."""
    if era.name in ("0.7.0", "0.7.1"):
        yield from _activity(0, 2021)
    if era.name != "0.7.0":
        yield from _activity(1, 2023)


def _activity(later: int, year: int) -> Iterator[Row]:
    done: list[tuple[int, int | None, int | None, str | None, int]] = [
        (LOGIN, 0, None, None, 0),  # early rows have no player
        (SELECT_PLAYER[later], 0, 0, "Hero0,Knight0", 0),
        (FAILED_LOGIN, None, None, "Hero9", 0),
        (CREATE_PLAYER[later], 1, 1, "Hero1,Knight1", 0),
        (KICK[later], 1, 1, "Hero1,Knight1", 0),
        (NAME_CHANGE[later], 2, 2, "Changed name from A to B", 0),
        (BAN, 1, 1, None, 0),
        (LOGIN, 77, None, None, 1),  # an account that was deleted
        (99, 0, 0, "an unknown action", 0),
        *([(KILL, 2, 2, "Hero2,Knight2", 0)] if later else []),
    ]
    for second, (action, user, player, meta, peer) in enumerate(done, 1):
        owner = ZERO if user is None else guid("user", user)
        who = None if player is None else guid("player", player)
        at = f"{year}-04-21 10:20:{second:02}.0655200"
        yield guid(f"activity {year}", second), at, owner, who, action, peer, f"10.0.0.{user or 0}", meta


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
        keys = (guid("trade row", 2 * number + place), guid("trade", number))
        who = (guid("user", own), guid("player", own), f"10.0.0.{own}", at)
        yield (*keys, *who, guid("player", target), mine, yours)
