"""Entries of the game's logs for tests that copy or erase whole databases."""

from people import ANN, BOB, COIN, USER_IDS, guid
from world import World

ADDRESSES = {"Ann": "198.51.100.61", "Bob": "198.51.100.62"}
AT = "2026-01-31T12:00:00Z"


def report(world: World) -> None:
    """Report activity and a trade of Ann and Bob, and a failed log-in with Ann's name."""
    activity: list[dict[str, object]] = [
        {
            "Id": guid(0x4000 + number),
            "TimeStamp": AT,
            "UserId": USER_IDS[player.name],
            "PlayerId": player.id,
            "Action": "SelectPlayer",
            "Ip": ADDRESSES[player.name],
        }
        for number, player in enumerate((ANN, BOB))
    ]
    failed = {"Id": guid(0x4002), "TimeStamp": AT, "Action": "FailedLogin", "Meta": "ann", "Ip": ADDRESSES["Ann"]}
    trades = [
        {
            "Id": guid(0x4100 + number),
            "TradeId": guid(0x4200),
            "TimeStamp": AT,
            "UserId": USER_IDS[one.name],
            "PlayerId": one.id,
            "TargetId": other.id,
            "Ip": ADDRESSES[one.name],
            "Items": [{"ItemId": COIN.id, "Quantity": 3}],
            "TargetItems": list[object](),
        }
        for number, (one, other) in enumerate(((ANN, BOB), (BOB, ANN)))
    ]
    for path, entries in (("activity", [*activity, failed]), ("trades", trades)):
        assert world.post(f"/api/link/v1/logs/{path}", {"Entries": entries}, by="Server").status == 200
