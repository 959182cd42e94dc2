"""Callers that are known to an account: they can log in while it is locked for others."""

from collections.abc import Callable

from gamekeeper.game import guesses
from guessing import USERS, WRONG, guess, limited, shut, validate
from proof import refused, rows
from tidying import tidy
from world import SENT, World


def test_known_address_can_log_in_while_the_account_is_locked_for_others(world: World) -> None:
    assert guess(world, password=SENT, address="10.0.0.9").status == 200
    shut(world)
    limited(guess(world, password=SENT))
    assert guess(world, password=SENT, address="10.0.0.9").status == 200


def test_known_website_can_log_in_while_the_account_is_locked_for_others(world: World) -> None:
    assert validate(world, SENT, by="Clerk").status == 200
    shut(world, "Ann")
    limited(validate(world, SENT, by="Root"))
    assert validate(world, SENT, by="Clerk").status == 200


def test_known_caller_has_ten_guesses(world: World) -> None:
    assert guess(world, password=SENT).status == 200
    shut(world)
    for _ in range(10):
        refused(guess(world), 400, "invalid_grant")
    limited(guess(world, password=SENT))


def test_known_caller_is_not_limited_by_guesses_from_its_address(make_world: Callable[..., World]) -> None:
    world = make_world(guesses_per_address=3)
    assert guess(world, password=SENT).status == 200
    for name in ("Nobody", "Clerk", "Shop"):
        guess(world, name)
    limited(guess(world, "Clerk", SENT))
    assert guess(world, password=SENT).status == 200


def test_caller_is_known_to_one_account_only(world: World) -> None:
    assert guess(world, "Clerk", SENT).status == 200
    shut(world)
    limited(guess(world, password=SENT))


def test_wrong_password_does_not_make_the_caller_known(world: World) -> None:
    guess(world)
    validate(world)
    assert not rows(world, "known_callers")


def test_new_password_forgets_all_known_callers(world: World) -> None:
    assert guess(world, "Shop", SENT).status == 200
    assert guess(world, "Clerk", SENT).status == 200
    assert world.post(f"{USERS}/Shop/manage/password/change", {"new": WRONG}).status == 200
    shut(world, "Shop")
    limited(guess(world, "Shop", WRONG))
    # only the known caller of Clerk is left: the new password of Shop deleted that of Shop
    assert world.sql("SELECT caller FROM known_callers") == [("10.0.0.1",)]


def test_known_caller_is_forgotten_after_thirty_days(world: World) -> None:
    assert guess(world, password=SENT).status == 200
    world.sql("UPDATE known_callers SET at = at - $1", guesses.KNOWN_CALLER_MS)
    shut(world)
    limited(guess(world, password=SENT))


def test_log_in_renews_the_known_caller(world: World) -> None:
    assert guess(world, password=SENT).status == 200
    world.sql("UPDATE known_callers SET at = at - $1", guesses.KNOWN_CALLER_MS - 60_000)
    assert guess(world, password=SENT).status == 200
    world.sql("UPDATE known_callers SET at = at - 120000")
    shut(world)
    assert guess(world, password=SENT).status == 200


def test_old_known_callers_are_deleted(world: World) -> None:
    for address in ("10.0.0.1", "10.0.0.2"):
        assert guess(world, password=SENT, address=address).status == 200
    world.sql("UPDATE known_callers SET at = at - $1 WHERE caller = '10.0.0.1'", guesses.KNOWN_CALLER_MS + 1000)
    tidy(world)
    assert world.sql("SELECT caller FROM known_callers") == [("10.0.0.2",)]
