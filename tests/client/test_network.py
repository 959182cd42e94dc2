"""Both clients against a real server, through a proxy that loses or replaces answers. On both engines."""

import threading
import time
from collections.abc import Callable, Generator, Mapping

import httpx
import pytest

import people
from client_driver import QUICK, Driver, connecting
from fault_proxy import FaultProxy, refusal
from gamekeeper_client import AsyncClient, Client, PutPlayer, errors, exchange
from server import Server

COIN = people.COIN.id
LOG_IN = b"POST /api/oauth/token"


@pytest.fixture
def proxy(server: Server) -> Generator[FaultProxy]:
    with FaultProxy(server.port) as proxy:
        yield proxy


@pytest.fixture(params=[Client, AsyncClient], ids=["blocking", "awaiting"])
def connect(request: pytest.FixtureRequest, proxy: FaultProxy) -> Generator[Callable[..., Driver]]:
    yield from connecting(request.param, proxy.url)


@pytest.fixture
def root(connect: Callable[..., Driver], known_tokens: Mapping[str, str]) -> Driver:
    return connect(token=known_tokens["Root"])


@pytest.fixture
def logged_in(connect: Callable[..., Driver]) -> Driver:
    return connect(username="Root", password=people.PASSWORD)


def count_coins(driver: Driver) -> int:
    slots = driver.call("get_inventory", "Bob")
    return sum(slot.quantity for slot in slots if slot.item_id == COIN)


def test_write_with_lost_answers_is_applied_once(root: Driver, proxy: FaultProxy) -> None:
    before = count_coins(root)
    proxy.lose = 2
    given = root.call("give_item", "Bob", COIN, 5)
    assert proxy.lose == 0
    assert proxy.count(b"POST /api/v1/players/Bob/items/give") == 3
    assert given.quantity.inventory == before + 5 == count_coins(root)


def test_write_is_retried_when_connection_closes_before_it_arrives(root: Driver, proxy: FaultProxy) -> None:
    before = count_coins(root)
    proxy.cuts = 2
    proxy.cut()
    assert root.call("give_item", "Bob", COIN, 1).quantity.inventory == before + 1 == count_coins(root)
    assert (proxy.cuts, proxy.count(b"POST /api/v1/players/Bob/items/give")) == (0, 1)


def test_unreachable_server_raises_error_with_key_of_write(root: Driver, proxy: FaultProxy) -> None:
    proxy.away = True
    with pytest.raises(errors.Unreachable) as caught:
        root.call("give_item", "Bob", COIN, 1, idempotency_key="mine")
    assert caught.value.idempotency_key == "mine"
    assert isinstance(caught.value.__cause__, httpx.TransportError)
    with pytest.raises(errors.Unreachable) as caught:
        root.call("get_player", "Bob")
    assert caught.value.idempotency_key is None


def test_temporary_refusals_are_retried(root: Driver, proxy: FaultProxy) -> None:
    proxy.answers = [
        refusal("503 Service Unavailable", "overloaded"),
        refusal("502 Bad Gateway", ""),
        refusal("429 Too Many Requests", "too_many_mails", "Retry-After: 1"),
        refusal("409 Conflict", "idempotency_in_progress"),
    ]
    started = time.monotonic()
    assert root.call("get_player", "Ann").name == "Ann"
    assert len(proxy.requests) == 5
    assert time.monotonic() - started >= 1


@pytest.mark.parametrize(("status", "code"), [("500 Oops", "internal_error"), ("409 Conflict", "inventory_full")])
def test_permanent_refusal_is_raised_without_retry(root: Driver, proxy: FaultProxy, status: str, code: str) -> None:
    proxy.answers = [refusal(status, code)]
    with pytest.raises(errors.CODES[code]):
        root.call("get_player", "Ann")
    assert len(proxy.requests) == 1


def test_server_errors_raise_their_classes(root: Driver) -> None:
    with pytest.raises(errors.NoSuchPlayer) as caught:
        root.call("get_player", "Nobody Here")
    assert (caught.value.status, caught.value.code) == (404, "no_such_player")
    assert caught.value.message == "No player with name 'Nobody Here'."
    assert len(caught.value.request_id) == 24
    before = count_coins(root)
    assert root.call("give_item", "Bob", COIN, 7, dry_run=True).quantity.inventory == before + 7
    assert count_coins(root) == before


def test_iterators_return_complete_lists(root: Driver) -> None:
    for name in ("iterate_players", "iterate_ranking"):
        found = [player.name for player in root.each(name, page_size=2)]
        assert sorted(found) == ["Ann", "Bob", "Zoe"]
    assert [user.name for user in root.each("iterate_users", page_size=3)] == sorted(people.ACCOUNTS)
    assert len(root.each("iterate_catalogue", "items", page_size=1)) == 4
    assert root.each("iterate_online_players") == []
    assert [each.name for each in root.each("iterate_ranking", sort_direction="Ascending", most=1)] == ["Bob"]


# --- log-ins of the client -----------------------------------------------------------------------------------------


def test_token_is_renewed_before_it_expires(
    logged_in: Driver, proxy: FaultProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    logged_in.call("get_player", "Ann")
    first, now = logged_in.session.access, time.monotonic()
    monkeypatch.setattr(exchange.time, "monotonic", lambda: now + 3600 - exchange.RENEW_EARLY_MAX_SECONDS + 1)
    logged_in.call("get_player", "Ann")
    assert logged_in.session.access != first
    # two log-ins and two reads: the client renewed its token before the server could refuse a read
    assert (proxy.count(LOG_IN), len(proxy.requests)) == (2, 4)


def test_revoked_refresh_token_leads_to_log_in_with_password(logged_in: Driver, proxy: FaultProxy) -> None:
    logged_in.call("get_player", "Ann")
    logged_in.call("revoke_tokens", "Root", dry_run=True)
    logged_in.session.access = "gka_run-out"
    logged_in.session._refresh = people.NOBODY_ID  # noqa: SLF001 - simulates a revoked refresh token
    assert logged_in.call("get_player", "Ann").name == "Ann"
    assert proxy.count(LOG_IN) == 3


def test_log_in_and_refresh_are_retried_when_answers_are_lost(logged_in: Driver, proxy: FaultProxy) -> None:
    proxy.lose = 1
    assert logged_in.call("get_player", "Ann").name == "Ann"
    logged_in.session.access = "gka_run-out"
    proxy.answers = [refusal("401 Unauthorized", "denied")]
    proxy.lose = 1
    assert logged_in.call("get_player", "Ann").name == "Ann"


def test_threads_log_in_once(proxy: FaultProxy) -> None:
    with Client(proxy.url, username="Root", password=people.PASSWORD, patience=QUICK) as client:
        threads = [threading.Thread(target=client.get_player, args=("Ann",)) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert (proxy.count(LOG_IN), len(proxy.requests)) == (1, 7)


# --- the change feed through the client ----------------------------------------------------------------------------


def test_follow_changes_continues_from_its_cursor(root: Driver, proxy: FaultProxy) -> None:
    start = root.call("list_changes", "now").next
    for quantity in (1, 2, 3):
        root.call("give_item", "Bob", COIN, quantity)
    proxy.lose = 1
    found = root.each("follow_changes", start, limit=2, most=3)
    assert [change.kind for change in found] == ["items_given"] * 3
    assert sorted({change.seq for change in found}) == [change.seq for change in found]
    again = root.each("follow_changes", found[0].seq, most=2)
    assert [change.seq for change in again] == [change.seq for change in found[1:]]


def test_unapplied_changes_error_has_the_changes(
    root: Driver, connect: Callable[..., Driver], known_tokens: Mapping[str, str]
) -> None:
    game = connect(token=known_tokens["Server"])
    start = root.call("list_changes", "now").next
    root.call("give_item", "Zoe", COIN, 2)
    with pytest.raises(errors.UnappliedChanges) as caught:
        game.call("put_player", people.ZOE.id, PutPlayer(exp=400, applied_seq=start))
    assert [change.player_id for change in caught.value.changes] == [people.ZOE.id]
