"""A shop, a leaderboard, a bot and a game server, with the installed Python client, against a real server.

tests/client/typescript/scenario.mts is the same with the other client. `run_scenario` starts both.
"""

import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from gamekeeper_client import Change, Client, Patience, errors
from gamekeeper_client.link import Ack

proxied, direct, password, coin, bob, double_xp, kills = sys.argv[1:]
root = Client(direct, username="Root", password=password)
game = Client(direct, username="Server", password=password)
LARGE = 2**62 + 1


def tell(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def catch_refusal(act: Callable[[], object]) -> type[errors.Refused] | None:
    try:
        act()
    except errors.Refused as problem:
        return type(problem) if problem.idempotency_key else None
    return None


def count_coins() -> int:
    return sum(slot.quantity for slot in root.get_inventory("Bob") if slot.item_id == coin)


def note_gifts(after: int, expected: int) -> list[Change]:
    """Note the gifts to Bob, as a bot does, until there are as many as expected."""
    gifts: list[Change] = []
    for change in root.follow_changes(after, wait=5):
        if change.kind == "items_given" and change.player_id == bob:
            gifts.append(change)
        if len(gifts) == expected:
            break
    return gifts


def keep_shop() -> None:
    made = root.create_key("web shop", ["items.give", "items.take", "players.read"])
    assert made.key
    patience = Patience(retries=300, first=0.02, longest=0.2)
    start = root.list_changes("now").next
    with Client(proxied, token=made.key, patience=patience) as shop, ThreadPoolExecutor() as pool:
        noted = pool.submit(note_gifts, start, 3)
        given = shop.give_item("Bob", coin, 5, reason="Bestellung für Bob № 1 ✓")
        assert given.quantity.inventory == count_coins()
        assert shop.take_item("Bob", coin, 2).quantity == 2
        balance = count_coins()
        assert shop.give_item("Bob", coin, 1000, dry_run=True).quantity.inventory == balance + 1000
        assert count_coins() == balance
        assert catch_refusal(lambda: shop.take_item("Bob", coin, balance + 1)) is errors.NotEnoughItems

        tell("kill the server when it has answered the next request")
        sys.stdin.readline()
        order = partial(shop.give_item, "Bob", coin, idempotency_key="order-4711", reason="order 4711")
        after_kill = order(7)
        assert after_kill.quantity.inventory == balance + 7
        assert order(7) == after_kill
        assert count_coins() == balance + 7
        assert catch_refusal(lambda: order(8)) is errors.IdempotencyKeyReused
        shop.give_item("Bob", coin, 1)
        gifts = noted.result()  # of the bot, which was following when the server was killed
    history = list(root.iterate_history(player=bob, kind="items_given", limit=1))
    assert [each.seq for each in reversed(history)] == [each.seq for each in gifts]
    assert [each.reason for each in history] == [None, "order 4711", "Bestellung für Bob № 1 ✓"]


def show_leaderboard() -> None:
    names = [player.name for player in root.iterate_ranking(page_size=1)]
    assert sorted(names) == ["Ann", "Bob", "Zoe"]
    assert [each.name for each in root.get_rank(names[1], around=1).around] == [names[0], names[2]]
    root.create_board("levels", "Highest levels", "level")
    while not root.list_standings("levels").season.complete:
        time.sleep(0.2)
    pages = [root.list_standings("levels", page, page_size=2).values for page in range(2)]
    assert [each.name for page in pages for each in page] == names


def run_game() -> None:
    start = game.list_changes("now").next
    assert game.send_heartbeat("realm", 60, applied_seq=start).server == "realm"
    assert game.report_joined("realm", [bob]) == 1
    assert root.get_player("bob").online
    root.kill_player("Bob", reason="stuck")
    for change in game.follow_changes(start, server="realm"):
        if change.kind == "player_killed" and change.player_id == bob and not change.expired:
            (ack,) = game.acknowledge_commands("realm", [Ack(change.seq, "applied")])
            assert (ack.seq, ack.state) == (change.seq, "applied")
            break
    assert game.report_left("realm", [bob]) == 0
    assert game.report_shutdown("realm") == 0


def keep_digits() -> None:
    """Send and read integers beyond 2^53, as numbers of players and of variables."""
    assert root.set_variable("Bob", kills, -LARGE).value == -LARGE
    assert root.set_server_variable(double_xp, LARGE).value == LARGE
    assert root.get_server_variable(double_xp).value == LARGE


keep_shop()
show_leaderboard()
run_game()
keep_digits()
tell("done")
