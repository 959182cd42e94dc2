"""Accounts. Passwords are given as people type them; what goes over the wire is their SHA-256."""

import hashlib
from typing import Literal, TypedDict, Unpack

from gamekeeper_client.call import Batch, Call, WriteOptions, every_page, get, path, post, query, reading, write
from gamekeeper_client.keywords import require_known
from gamekeeper_client.players import LARGEST_PAGE, Direction, listed
from gamekeeper_client.shapes import (
    ChangedPower,
    HeldPowers,
    LegacyPage,
    Message,
    Page,
    Player,
    Power,
    Registered,
    User,
)

USERS, KEEPER = "/api/v1/users", "/api/keeper/v1"

_message = reading(Message)
_changed = reading(User[ChangedPower])


def wire_form(password: str) -> str:
    return hashlib.sha256(password.encode()).hexdigest()


class UsersAsked(TypedDict, total=False):
    """Which accounts, and in what order: those with `search` in a name or an email; of so many matches a thousand."""

    search: str
    sort_by: Literal["name", "email"]
    sort_direction: Direction


def users(*, page_size: int = LARGEST_PAGE, **asked: Unpack[UsersAsked]) -> Call[Batch[User[Power]]]:
    """Every account, by name, fetched a page at a time; or those that a search finds, or by email."""
    return every_page(lambda page: users_page(page, page_size=page_size, **asked))


def users_page(
    page: int = 0, *, page_size: int | None = None, limit: int | None = None, **asked: Unpack[UsersAsked]
) -> Call[Page[User[Power]]]:
    wanted = query(page=page, pageSize=page_size, limit=limit, **listed(**asked))
    return get(USERS, reading(Page[User[Power]]), wanted)


def legacy_users(page: int = 0, count: int = 5) -> Call[LegacyPage[User[Power]]]:
    """The deprecated form of the list; `users` is its successor."""
    return post(USERS, {"page": page, "count": count}, reading(LegacyPage[User[Power]]))


def user(user: str) -> Call[User[Power]]:
    """One account, by name or id."""
    return get(_of(user), reading(User[Power]))


def register(username: str, password: str, email: str, **options: Unpack[WriteOptions]) -> Call[Registered]:
    body = {"username": username, "password": wire_form(password), "email": email}
    return write("POST", f"{USERS}/register", reading(Registered), body, **options)


def validate_password(user: str, password: str) -> Call[Message]:
    """Raises WrongPassword when it is not theirs, TooManyGuesses when it was asked too often."""
    return post(_of(user, "/password/validate"), {"password": wire_form(password)}, _message)


def change_email(user: str, new: str, password: str, **options: Unpack[WriteOptions]) -> Call[User[ChangedPower]]:
    """With the account's own password."""
    body = {"new": new, "authorization": wire_form(password)}
    return write("POST", _of(user, "/email/change"), _changed, body, **options)


def change_password(user: str, new: str, password: str, **options: Unpack[WriteOptions]) -> Call[Message]:
    """With the account's own password; all tokens of the account end."""
    body = {"new": wire_form(new), "authorization": wire_form(password)}
    return write("POST", _of(user, "/password/change"), _message, body, **options)


def manage_email(user: str, new: str, **options: Unpack[WriteOptions]) -> Call[User[ChangedPower]]:
    """Without the account's password; needs the role users.manage."""
    return write("POST", _of(user, "/manage/email/change"), _changed, {"new": new}, **options)


def manage_password(user: str, new: str, **options: Unpack[WriteOptions]) -> Call[Message]:
    """Without the account's password; needs the role users.manage; all tokens of the account end."""
    return write("POST", _of(user, "/manage/password/change"), _message, {"new": wire_form(new)}, **options)


def request_password_reset(user: str, **options: Unpack[WriteOptions]) -> Call[Message]:
    """Mails a one-time code; `warning` says when the server has no mail set up."""
    return write("GET", _of(user, "/password/reset"), _message, **options)


def redeem_reset_code(user: str, code: str, new: str, **options: Unpack[WriteOptions]) -> Call[Message]:
    body = {"code": code, "new": wire_form(new)}
    return write("POST", _of(user, "/password/reset"), _message, body, **options)


def rename_user(user: str, name: str, **options: Unpack[WriteOptions]) -> Call[User[ChangedPower]]:
    """Needs the role users.manage."""
    return write("POST", _of(user, "/name"), _changed, {"name": name}, **options)


def delete_user(user: str, **options: Unpack[WriteOptions]) -> Call[User[ChangedPower]]:
    """Erases the person, with all characters; needs the role users.manage.

    The answer is the account as it was. It is not kept: whoever repeats the call with the same key gets the id alone.
    """
    return write("DELETE", _of(user), _changed, **options)


class PowersGiven(TypedDict, total=False):
    """Whether the account shall have each; what is not named stays as it is."""

    editor: bool
    ban: bool
    kick: bool
    mute: bool
    api: bool
    users_query: bool
    users_manage: bool
    game_link: bool


def change_powers(user: str, powers: PowersGiven, **options: Unpack[WriteOptions]) -> Call[HeldPowers]:
    """Of what the caller has itself; needs the role users.manage."""
    require_known("change_powers", powers, PowersGiven.__annotations__)
    body = {name.replace("_", ""): given for name, given in powers.items()}
    return write("POST", path(f"{KEEPER}/users/{{}}/powers", user), reading(HeldPowers), body, **options)


def players_of(user: str) -> Call[list[Player]]:
    """The account's characters, oldest first."""
    return get(_of(user, "/players"), reading(list[Player]))


def player_of(user: str, player: str | int) -> Call[Player]:
    """One of the account's characters: by id, by name, or by its place in `players_of`."""
    return get(path(f"{USERS}/{{}}/players/{{}}", user, str(player)), reading(Player))


def _of(user: str, rest: str = "") -> str:
    return path(USERS + "/{}", user) + rest
