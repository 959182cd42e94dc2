"""Limits on password guesses: counted before the check, over all instances, also for unknown names."""

from collections.abc import Mapping

import pytest

import people
from gamekeeper.game.access import guess_limits
from guessing import PROVING, earlier, guess, limited, shut, validate
from loops import over
from proof import refused, rows
from tidying import tidy
from world import SENT, TOKEN, USERS, WRONG, MakeWorld, World

WINDOW = 5 * 60_000


def age(world: World, milliseconds: int) -> None:
    world.sql("UPDATE guesses SET at = at - $1", milliseconds)


# --- limits per caller and per account ----------------------------------------------------------------------------


def test_after_ten_wrong_passwords_the_right_one_is_refused(world: World, hashed: list[str]) -> None:
    for _ in range(10):
        refused(guess(world), 400, "invalid_grant")
    assert 295 <= limited(guess(world)) <= 300
    limited(guess(world, password=SENT))
    assert len(hashed) == 10


def test_owner_at_another_address_can_log_in(world: World) -> None:
    earlier(world, people.USER_IDS["Root"], "10.0.0.1", 10)
    limited(guess(world, password=SENT))
    assert guess(world, password=SENT, address="10.0.0.2").status == 200
    assert guess(world, "Clerk", SENT).status == 200  # from this address only the guessed account is locked


def test_account_limit_is_fifty_guesses_over_all_callers(world: World) -> None:
    for number in range(7):
        earlier(world, people.USER_IDS["Root"], f"10.0.1.{number}", 7)
    refused(guess(world), 400, "invalid_grant")
    assert limited(guess(world, password=SENT, address="10.0.0.9")) > 0
    limited(validate(world, SENT, "Root"))
    assert validate(world, SENT, "Ann").status == 200


# --- guesses from one address at many accounts --------------------------------------------------------------------


def test_guesses_at_many_accounts_from_one_address_are_limited(make_world: MakeWorld, hashed: list[str]) -> None:
    world = make_world(guesses_per_address=4)
    for name in ("Root", "Nobody", "Clerk", "Neverwas"):
        refused(guess(world, name), 400, "invalid_grant")
    for name in ("Shop", "Nemo", "Root"):  # guesses at known and unknown account names count alike
        assert 295 <= limited(guess(world, name, SENT)) <= 300
    assert len(hashed) == 4
    assert guess(world, "Shop", SENT, "10.0.0.2").status == 200
    age(world, WINDOW)
    assert guess(world, "Shop", SENT).status == 200


def test_website_is_not_limited_by_guesses_of_its_players(make_world: MakeWorld) -> None:
    """Guesses with a token are counted by caller and account: all players of a site share its address."""
    world = make_world(guesses_per_address=2)
    for user in people.USER_IDS:
        refused(validate(world, WRONG, user, by="Clerk"), 400, "wrong_password")
    assert validate(world, SENT, by="Clerk").status == 200
    assert guess(world, "Clerk", SENT, "127.0.0.1").status == 200  # the website can still log in for its own token


# --- guesses by the visitors of a website -------------------------------------------------------------------------


SITE = "127.0.0.1"  # IP address of the website
OWNER, ATTACKER = "198.51.100.7", "203.0.113.9"


def test_guesses_through_a_site_do_not_lock_the_owner_out(make_world: MakeWorld) -> None:
    world = make_world(trusted_proxies=SITE)
    assert validate(world, SENT, by="Clerk", visitor=OWNER).status == 200
    for _ in range(10):
        refused(validate(world, by="Clerk", visitor=ATTACKER), 400, "wrong_password")
    assert 295 <= limited(validate(world, SENT, by="Clerk", visitor=ATTACKER)) <= 300
    assert validate(world, SENT, by="Clerk", visitor=OWNER).status == 200
    shut(world, "Ann")
    # an address that never sent the right password is not a known caller of the account
    limited(validate(world, SENT, by="Clerk", visitor="203.0.113.10"))
    assert validate(world, SENT, by="Clerk", visitor=OWNER).status == 200


@pytest.mark.parametrize("operation", PROVING)
def test_every_operation_counts_guesses_per_account_and_caller(make_world: MakeWorld, operation: str) -> None:
    world, path = make_world(trusted_proxies=SITE, guesses_per_caller=1), f"{USERS}/Ann/{operation}"
    for by, visitor in (("Clerk", ATTACKER), ("Clerk", OWNER), ("Root", OWNER)):
        headers = {"X-Forwarded-For": visitor}
        refused(world.post(path, PROVING[operation], by=by, headers=headers), 400, "wrong_password")
        limited(world.post(path, PROVING[operation], by=by, headers=headers))
    refused(world.post(path.replace("Ann", "Bob"), PROVING[operation], by="Clerk"), 400, "wrong_password")


def test_addresses_forwarded_by_an_untrusted_site_are_ignored(make_world: MakeWorld) -> None:
    """Otherwise a caller with a token could guess without limit by claiming another visitor's address each time."""
    world = make_world(guesses_per_caller=2)
    for number in range(2):
        refused(validate(world, by="Clerk", visitor=f"203.0.113.{number}"), 400, "wrong_password")
    limited(validate(world, by="Clerk", visitor="203.0.113.3"))


def test_no_caller_address_or_unknown_name_is_stored_in_clear(make_world: MakeWorld) -> None:
    world = make_world(trusted_proxies=SITE)
    validate(world, by="Clerk", visitor=ATTACKER)
    validate(world, SENT, by="Clerk", visitor=OWNER)
    guess(world, "hunter2")  # people sometimes type their password into the name field
    stored = repr((rows(world, "guesses"), rows(world, "known_callers")))
    assert all(text not in stored for text in (ATTACKER, OWNER, people.USER_IDS["Clerk"], "hunter2"))


@over(
    "address, counted",
    ("10.0.0.1", "10.0.0.1"),
    ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
    ("fe80::1%eth0", "fe80::/64"),
    ("::ffff:10.0.0.1", "10.0.0.1"),
    ("", ""),
    ("somewhere", "somewhere"),
)
def test_network_of_an_address(address: str, counted: str) -> None:
    assert guess_limits.find_network(address) == counted


def test_addresses_of_one_network_are_counted_together(world: World) -> None:
    for number in range(10):
        refused(guess(world, address=f"2001:db8:1:2::{number}"), 400, "invalid_grant")
    limited(guess(world, address="2001:db8:1:2:ffff::1"))
    assert guess(world, password=SENT, address="2001:db8:1:3::1").status == 200


# --- which requests count as guesses ------------------------------------------------------------------------------


def test_right_password_releases_the_guess(world: World) -> None:
    caller = guess_limits.make_caller_guess("", people.USER_IDS["Root"], "127.0.0.1").caller  # as it is stored
    earlier(world, people.USER_IDS["Ann"], caller, 9)
    for _ in range(5):
        assert validate(world, SENT).status == 200
    refused(validate(world), 400, "wrong_password")
    limited(validate(world, SENT))


def test_guesses_at_unknown_names_are_limited_too(world: World, hashed: list[str]) -> None:
    answers = [guess(world, "Nobody") for _ in range(10)]
    assert {(answer.status, answer.code) for answer in answers} == {(400, "invalid_grant")}
    assert 295 <= limited(guess(world, "nOBODY")) <= 300
    refused(guess(world, "Nobody", address="10.0.0.2"), 400, "invalid_grant")
    assert len(hashed) == 11


def test_malformed_requests_are_not_guesses(world: World) -> None:
    refused(validate(world, "secret"), 400, "bad_password")
    refused(guess(world, password="secret"), 400, "bad_password")
    refused(validate(world, user="Nobody"), 404, "no_such_user")
    assert not rows(world, "guesses")


# --- the time window of guesses -----------------------------------------------------------------------------------


def test_guesses_are_forgotten_after_the_window(world: World) -> None:
    earlier(world, people.USER_IDS["Root"], "10.0.0.1", 10)
    age(world, WINDOW - 30_000)
    assert 20 <= limited(guess(world, password=SENT)) <= 30
    age(world, 30_000)
    assert guess(world, password=SENT).status == 200


def test_refused_guess_does_not_lengthen_the_wait(world: World) -> None:
    earlier(world, people.USER_IDS["Root"], "10.0.0.1", 10)
    for _ in range(3):
        limited(guess(world))
    assert len(rows(world, "guesses")) == 10


# --- callers that are known to an account: they can log in while it is locked for others ---------------------------


def test_known_caller_has_ten_guesses(world: World) -> None:
    assert guess(world, password=SENT).status == 200
    shut(world)
    for _ in range(10):
        refused(guess(world), 400, "invalid_grant")
    limited(guess(world, password=SENT))


def test_known_caller_is_not_limited_by_guesses_from_its_address(make_world: MakeWorld) -> None:
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
    world.sql("UPDATE known_callers SET at = at - $1", guess_limits.KNOWN_CALLER_MS)
    shut(world)
    limited(guess(world, password=SENT))


def test_old_known_callers_are_deleted(world: World) -> None:
    for address in ("10.0.0.1", "10.0.0.2"):
        assert guess(world, password=SENT, address=address).status == 200
    world.sql("UPDATE known_callers SET at = at - $1 WHERE caller = '10.0.0.1'", guess_limits.KNOWN_CALLER_MS + 1000)
    tidy(world)
    assert world.sql("SELECT caller FROM known_callers") == [("10.0.0.2",)]


# --- guesses in parallel ------------------------------------------------------------------------------------------

LOG_IN: Mapping[str, object] = {"grant_type": "password", "password": WRONG}


@pytest.mark.both_engines
@pytest.mark.parametrize("at", ["one account", "many names", "an operation"])
def test_thirty_parallel_guesses_over_two_instances_check_ten(
    make_world: MakeWorld, hashed: list[str], at: str
) -> None:
    first, second = (make_world(guesses_per_address=10) for _ in range(2))
    calls = [
        world.send("POST", f"{USERS}/Ann/password/change?dryRun=true", body=PROVING["password/change"], by="Clerk")
        if at == "an operation"
        else world.send("POST", TOKEN, body={**LOG_IN, "username": name if at == "many names" else "Root"}, by=None)
        for number, world in enumerate((first, second) * 15)
        for name in [f"Name{number}"]
    ]
    answers = first.at_once(calls)
    assert sorted(answer.status for answer in answers) == [400] * 10 + [429] * 20
    assert len(hashed) == 10
