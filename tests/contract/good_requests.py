"""One good request for every row of the table: what the contract tests vary."""

import re
from collections.abc import Mapping
from typing import NamedTuple, cast

import people
from gamekeeper.http.routes import ROUTES, WRITE, Route
from world import SENT, World

SERVER = "realm1"
CODE = "a-code-that-was-mailed"
TOKEN_ID = "00000000-0000-4000-8000-00000000aaaa"
MAIL_ID = "00000000-0000-4000-8000-00000000bbbb"
NEW_PASSWORD = "ab" * 32
PLAYER_KEYS = {"lookupKey": "Ann", "variableId": people.KILLS.id, "bagId": people.ANNS_POUCH}
USER_KEYS = {"lookupKey": "Ann", "lookupKey1": "Ann", "lookupKey2": "Zoe"}
OTHER_KEYS = {
    "username": "Clerk",
    "tokenId": TOKEN_ID,
    "kind": "spells",
    "id": people.BOB.id,
    "server": SERVER,
    "file": "docs.css",
    "type": "item",
    "objectId": people.COIN.id,
    "seq": "16",  # Zoe was made: the last that populate does
    "mailId": MAIL_ID,
}
OTHERS = {"unban": "Bob", "unmute": "Bob", "kick": "Mona"}  # whom an address is about, when not Ann
MONAS_ID = people.guid(64)
UNKNOWN_KEYS = {
    "lookupKey": "Nobody",
    "lookupKey1": "Nobody",
    "lookupKey2": "Nobody",
    "variableId": people.NOBODY_ID,
    "bagId": people.NOBODY_ID,
    "username": "Nobody",
    "tokenId": people.NOBODY_ID,
    "kind": "nothing",
    "id": people.NOBODY_ID,
    "server": "nowhere",
    "file": "nothing.css",
    "type": "nothing",
    "objectId": people.NOBODY_ID,
    "seq": "999999999",
    "mailId": people.NOBODY_ID,
}

GIVE: Mapping[str, object] = {"itemid": people.COIN.id, "quantity": 2}
BODIES: Mapping[str, object] = {
    "players.legacy_online": {},
    "players.legacy_by_name": {},
    "users.legacy_by_name": {},
    "gameobjects.legacy_objects": {},
    "variables.assign": {"value": 8},
    "items.give": {**GIVE, "bankoverflow": True},
    "items.take": GIVE,
    "spells.teach": {"spellid": people.HEAL.id},
    "spells.forget": {"spellid": people.FIREBALL.id},
    "users.register": {"username": "Newcomer", "password": SENT, "email": "newcomer@example.test"},
    "credentials.validate_password": {"password": SENT},
    "credentials.change_email": {"new": "ann2@example.test", "authorization": SENT},
    "credentials.change_password": {"new": NEW_PASSWORD, "authorization": SENT},
    "credentials.manage_email": {"new": "ann3@example.test"},
    "credentials.manage_password": {"new": NEW_PASSWORD},
    "credentials.redeem_code": {"code": CODE, "new": NEW_PASSWORD},
    "players.rename": {"name": "Anna"},
    "players.set_level": {"level": 13},
    "players.set_class": {"classid": people.WARRIOR.id},
    "users.rename": {"name": "Anna"},
    "moderation.ban": {},
    "moderation.unban": {},
    "moderation.mute": {},
    "moderation.unmute": {},
    "moderation.kick": {},
    "powers.change": {"mute": True},
    "tokens.log_in": {"grant_type": "password", "username": "Clerk", "password": SENT},
    "link.put_catalogue": [{"Id": people.FIREBALL.id, "Name": "Fireball"}],
    "link.put_player": {"Level": 4},
    "link.heartbeat": {"Lease": 3600},
    "link.joined": {"Players": [people.BOB.id]},
    "link.left": {"Players": [people.BOB.id]},
}


class Example(NamedTuple):
    route: Route
    path: str
    body: object  # None: no body

    @property
    def fields(self) -> Mapping[str, object]:
        """The fields of a body that is an object."""
        return cast("Mapping[str, object]", self.body)

    @property
    def name(self) -> str:
        """For people; without brackets, so that it can be part of a test's name."""
        return f"{self.route.number or '+'} {self.route.method} {self.route.path}".replace("[", "{").replace("]", "}")


def path_of(route: Route, keys: Mapping[str, str]) -> str:
    """The route's path, its parameters filled in from the keys."""
    usual = (USER_KEYS if route.path.startswith("/api/v1/users") else PLAYER_KEYS) | OTHER_KEYS | dict(keys)
    usual |= {"lookupKey": OTHERS.get(route.path.rpartition("/")[2], usual["lookupKey"])} | dict(keys)
    return re.sub(r"\[(\w+)\]", lambda found: usual[found[1]], route.path)


def handler_of(route: Route) -> str:
    return f"{route.handler.__module__.rpartition('.')[2]}.{route.handler.__name__}"


EXAMPLES = [Example(route, path_of(route, {}), BODIES.get(handler_of(route))) for route in ROUTES]
BY_NUMBER = {each.route.number: each for each in EXAMPLES if each.route.number}
BY_HANDLER = {handler_of(each.route): each for each in EXAMPLES}


def parameters(route: Route) -> list[str]:
    return re.findall(r"\[(\w+)\]", route.path)


def tried(example: Example) -> str:
    """The path of a request that changes nothing: a write becomes a dry run."""
    return f"{example.path}?dryRun=true" if example.route.does is WRITE else example.path


def furnish(world: World) -> None:
    """What the examples speak of and people.py does not have.

    A live game server with a character of Mona's on it, a reset code in a mail, a token by its id, and Bob banned and
    muted.
    """
    world.call("PUT", f"/api/link/v1/servers/{SERVER}", body={"Lease": 3600})
    monas = {"Name": "Mona", "UserId": people.USER_IDS["Mona"], "CreationDate": "2026-01-31T12:00:00Z"}
    world.call("PUT", f"/api/link/v1/players/{MONAS_ID}", body=monas)
    world.post(f"/api/link/v1/servers/{SERVER}/joined", {"Players": [MONAS_ID]})
    for act in ("ban", "mute"):
        world.post(f"/api/v1/users/Bob/admin/{act}", {})
    ann, clerk = people.USER_IDS["Ann"], people.USER_IDS["Clerk"]
    far = 4_000_000_000_000
    reset = f"'{ann}', '{CODE}', 1000000, {far}, '{MAIL_ID}'"
    world.sql(f"INSERT INTO resets (user_id, code, tries_left, expires_at, mail_id) VALUES ({reset})")  # noqa: S608 - the values are ours
    mail = f"'{MAIL_ID}', '{ann}', 'password_reset', 'ann@example.test', {far}, {far}, 1, 1, 'refused'"
    named = "id, user_id, kind, address, queued_at, expires_at, tries, failed_at, last_error"
    world.sql(f"INSERT INTO mails ({named}) VALUES ({mail})")  # noqa: S608 - the values are ours
    token = f"'{TOKEN_ID}', '{TOKEN_ID}', '{clerk}', 'none', read_only, 0, {far}, 0"
    names = "id, family_id, user_id, access_hash, read_only, issued_at, access_expires, refresh_expires"
    world.sql(f"INSERT INTO tokens ({names}) SELECT {token} FROM tokens LIMIT 1")  # noqa: S608 - the values are ours
