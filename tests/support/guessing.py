"""Guesses at passwords for tests, and what is stored of them."""

from collections.abc import Mapping

import people
from gamekeeper.game.core.lookup import new_guid
from proof import refused
from world import SENT, TOKEN, USERS, WRONG, Answer, World

PROVING: Mapping[str, Mapping[str, object]] = {
    "password/validate": {"password": WRONG},
    "email/change": {"new": "ann@new.test", "authorization": WRONG},
    "password/change": {"new": SENT, "authorization": WRONG},
}


def guess(world: World, user: str = "Root", password: str = WRONG, address: str = "10.0.0.1") -> Answer:
    body = {"grant_type": "password", "username": user, "password": password}
    return world.post(TOKEN, body, by=None, address=address)


def validate(
    world: World, password: str = WRONG, user: str = "Ann", by: str = "Root", visitor: str = "127.0.0.1"
) -> Answer:
    """Validate a password through a site that forwards its visitor's address."""
    headers = {"X-Forwarded-For": visitor}
    return world.post(f"{USERS}/{user}/password/validate", {"password": password}, by=by, headers=headers)


def earlier(world: World, account: str, caller: str, count: int) -> None:
    """Store wrong guesses of a moment ago directly, without checking passwords."""
    now = world.now()
    for _ in range(count):
        world.insert("guesses", id=new_guid(), account=account, caller=caller, at=now)


def limited(answer: Answer) -> int:
    """Require a 429 answer, and return its seconds to wait."""
    refused(answer, 429, "too_many_guesses")
    seconds = int(answer.headers["retry-after"])
    assert answer.message == f"Too many wrong passwords; wait {seconds} seconds."
    return seconds


def shut(world: World, user: str = "Root") -> None:
    """Use up the account's limit of guesses over all callers, from many addresses."""
    for number in range(5):
        earlier(world, people.USER_IDS[user], f"10.0.1.{number}", 10)
