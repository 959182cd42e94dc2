"""One valid request for every operation, made from its declared example; the contract tests vary it."""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple, cast
from urllib.parse import quote

import msgspec
from msgspec import Struct

import api_keys
import bulking
import guild_rows
import guild_values
import held_gifts
import invitations
import people
from gamekeeper.game.insight.board_shapes import SaveBoard, SaveSeason, StartSeason
from gamekeeper.http.access import credential_shapes, role_shapes
from gamekeeper.http.contract import samples
from gamekeeper.http.contract.operation import WRITE, Operation, Route
from gamekeeper.http.routes import ROUTES
from gamekeeper.http.world import link_shapes
from signalling import SIGNAL_ID, insert_signal
from world import SENT, World

SERVER = "realm1"
CODE = "a-code-that-was-mailed"
# operations whose answers have a new id or the present time, also in a dry run
NEW_EACH_TIME = frozenset(
    {
        *("api_keys.create_key", "api_keys.rotate_key", "api_keys.revoke_key", "accounts.invite"),
        *("bulk_jobs.create_bulk_job", "bulk_jobs.undo_bulk_job", "bulk_jobs.cancel_bulk_job", "notes.add_note"),
        *("boards.create_board", "boards.start_season"),
        "signals.acknowledge_signal",
    }
)
TOKEN_ID = "00000000-0000-4000-8000-00000000aaaa"
MAIL_ID = "00000000-0000-4000-8000-00000000bbbb"
KEY_ID = "00000000-0000-4000-8000-00000000cccc"
APPROVAL_ID = "00000000-0000-4000-8000-00000000dddd"
NOTE_ID = "00000000-0000-4000-8000-00000000eeee"
BOARD_ID = "00000000-0000-4000-8000-00000000ffff"
NEW_PASSWORD = "ab" * 32
PLAYER_KEYS = {"lookupKey": "Ann", "variableId": people.KILLS.id, "bagId": people.ANNS_POUCH}
USER_KEYS = {"lookupKey": "Ann", "lookupKey1": "Ann", "lookupKey2": "Zoe"}
OTHER_KEYS = {
    "username": "Clerk",
    "tokenId": TOKEN_ID,
    "kind": "items",
    "id": people.BOB.id,
    "server": SERVER,
    "mapId": people.MEADOW.id,
    "asset": "docs.css",
    "type": "item",
    "objectId": people.COIN.id,
    "itemId": people.COIN.id,
    "seq": "16",  # number of the change that created Zoe, the last change of the test data
    "serverVariableId": people.DOUBLE_XP.id,
    "guildVariableId": guild_values.FAME.id,
    "mailId": MAIL_ID,
    "invitationId": samples.MAIL_ID,
    "keyId": KEY_ID,
    "approvalId": APPROVAL_ID,
    "noteId": NOTE_ID,
    "signalId": SIGNAL_ID,
    "tag": "refunds",
    "board": samples.BOARD,
    "season": "1",
    "jobId": bulking.JOB_ID,
    "userId": people.USER_IDS["Ann"],
    "playerId": people.ANN.id,
    "guildId": guild_rows.GUILD_ID,
    "role": samples.ROLE,
}
# Accounts by operation, where Ann does not fit: Bob is banned and muted, and Mona has an online player.
OTHERS = {
    "unban": "Bob",
    "unmute": "Bob",
    "kick": "Mona",
    "kill": "Mona",
    "warpto": "Mona",
    "warptoloc": "Mona",
    "direct/[lookupKey]": "Mona",
}
MONAS_ID = people.guid(64)
IDS = (
    *("variableId", "bagId", "tokenId", "id", "mapId", "objectId", "itemId", "serverVariableId", "guildVariableId"),
    *("mailId", "invitationId", "keyId", "approvalId", "noteId", "signalId", "jobId", "userId", "playerId", "guildId"),
)
UNKNOWN_KEYS = {
    **dict.fromkeys(("lookupKey", "lookupKey1", "lookupKey2", "username"), "Nobody"),
    **dict.fromkeys(IDS, people.NOBODY_ID),
    **dict.fromkeys(("kind", "server", "asset", "type", "tag", "board", "role"), "nothing"),
    "seq": "999999999",
    "season": "99",
}

GIVE: Mapping[str, object] = {"itemid": people.COIN.id, "quantity": 2}
# Maps values of the declared examples, which belong to the demo world, to those of the test world.
HERE = {
    samples.DRAUGHT: people.COIN.id,
    samples.COIN: people.COIN.id,
    samples.EMBER_LANCE: people.HEAL.id,
    samples.STONE_SKIN: people.FIREBALL.id,
    samples.WARDEN: people.WARRIOR.id,
    samples.PLAYER_ID: people.BOB.id,
    samples.KEEPER: "Clerk",
    samples.HASH: SENT,
    samples.PLAYER: "Ann",
    samples.CODE: CODE,
}


# By type of request body, if all its fields are optional: how many fields of the example to keep; default 0.
KEPT_FIELDS: Mapping[object, int] = {
    link_shapes.PutPlayer: 1,
    role_shapes.ChangePowers: 1,
    role_shapes.ChangeRoles: 1,
    credential_shapes.ChangeKey: 1,
    credential_shapes.RotateKey: 1,
    credential_shapes.LogIn: 3,
    link_shapes.Warp: 1,
    **dict.fromkeys((SaveBoard, StartSeason, SaveSeason), 1),
}


def body_of(route: Operation) -> object:
    """Return the declared example body with values of the test world; if all fields are optional, only KEPT_FIELDS."""
    if route.body is None:
        return None
    text = msgspec.json.encode(route.example_body).decode().replace('"Slot":5', '"Slot":0')  # of Ann's coins
    for demo, here in HERE.items():
        text = text.replace(f'"{demo}"', f'"{here}"')
    body: Any = msgspec.json.decode(text)
    if not issubclass(route.body, Struct) or any(each.required for each in msgspec.structs.fields(route.body)):
        return body
    return dict(list(body.items())[: KEPT_FIELDS.get(route.body, 0)])


class Example(NamedTuple):
    route: Operation
    path: str
    body: object  # request body; None: no body

    @property
    def fields(self) -> Mapping[str, object]:
        """Return the fields of the request body if it is an object."""
        return cast("Mapping[str, object]", self.body)

    @property
    def name(self) -> str:
        """Return a readable name of the request without brackets, for test ids."""
        return f"{self.route.number or '+'} {self.route.method} {self.route.path}".replace("[", "{").replace("]", "}")


def path_of(route: Route, keys: Mapping[str, str]) -> str:
    """Return the route's path with its path parameters filled in."""
    usual = (USER_KEYS if route.path.startswith("/api/v1/users") else PLAYER_KEYS) | OTHER_KEYS | dict(keys)
    ends = [each for each in OTHERS if route.path.endswith(f"/{each}")]
    usual |= {"lookupKey": OTHERS[ends[0]] if ends else usual["lookupKey"]} | dict(keys)
    return re.sub(r"\[(\w+)\]", lambda found: quote(usual[found[1]]), route.path)


def handler_of(route: Route) -> str:
    return f"{route.handler.__module__.rpartition('.')[2]}.{route.handler.__name__}"


EXAMPLES = [Example(route, path_of(route, {}), body_of(route)) for route in ROUTES]
BY_NUMBER = {each.route.number: each for each in EXAMPLES if each.route.number}
BY_HANDLER = {handler_of(each.route): each for each in EXAMPLES}


def parameters(route: Route) -> list[str]:
    return re.findall(r"\[(\w+)\]", route.path)


def dry_run_path(example: Example) -> str:
    """Return the path of a request that changes nothing: a write as a dry run."""
    return f"{example.path}?dryRun=true" if example.route.access is WRITE else example.path


def insert_note(world: World) -> None:
    """Insert a note about Ann with a known id, unless it is there."""
    values = f"'{NOTE_ID}', '{people.USER_IDS['Ann']}', 0, 'Polite.', read_only FROM tokens WHERE true LIMIT 1"
    world.sql(f"INSERT INTO notes (id, user_id, at, text, warning) SELECT {values} ON CONFLICT DO NOTHING")


def insert_board(world: World) -> None:
    """Insert a board of coins with a final season, in which nobody is, in place of all other boards."""
    for table in ("hidden_accounts", "seasons", "boards"):
        world.sql(f"DELETE FROM {table}")  # noqa: S608 - ours
    names = "id, name, title, ranks, thing_id, gain, hide_staff, public, created_at, deleted"
    values = f"'{BOARD_ID}', '{samples.BOARD}', 'Most silver', 'item', '{people.COIN.id}', false, true, true, 0, false"
    world.sql(f"INSERT INTO boards ({names}) VALUES ({values})")  # noqa: S608 - ours
    names = "id, board_id, number, title, starts_at, ends_at, seq, final"
    values = f"'{BOARD_ID}', '{BOARD_ID}', 1, 'Spring', 1000, 2000, 0, true"
    world.sql(f"INSERT INTO seasons ({names}) VALUES ({values})")  # noqa: S608 - ours


def furnish(world: World) -> None:
    """Add to the test world what the example requests need and people.py does not create.

    This is a game server with an online player of Mona's, a mail with a reset code, a token and an API key with known
    ids, a role, a held gift, a guild, and a ban and a mute of Bob.
    """
    world.post("/api/keeper/v1/roles", {"name": samples.ROLE, "permissions": ["players.read"]})
    world.call("PUT", f"/api/link/v1/servers/{SERVER}", body={"Lease": 3600})
    monas = {"Name": "Mona", "UserId": people.USER_IDS["Mona"], "CreationDate": "2026-01-31T12:00:00Z"}
    world.call("PUT", f"/api/link/v1/players/{MONAS_ID}", body=monas)
    world.post(f"/api/link/v1/servers/{SERVER}/joined", {"Players": [MONAS_ID]})
    for act in ("ban", "mute"):
        world.post(f"/api/v1/users/Bob/admin/{act}", {})
    ann, clerk = people.USER_IDS["Ann"], people.USER_IDS["Clerk"]
    api_keys.insert(world, KEY_ID, clerk)
    far = 4_000_000_000_000
    reset = f"'{ann}', '{CODE}', 1000000, {far}, '{MAIL_ID}'"
    world.sql(f"INSERT INTO resets (user_id, code, tries_left, expires_at, mail_id) VALUES ({reset})")  # noqa: S608 - the values are ours
    mail = f"'{MAIL_ID}', '{ann}', 'password_reset', 'ann@example.test', {far}, {far}, 1, 1, 'refused'"
    named = "id, user_id, kind, address, queued_at, expires_at, tries, failed_at, last_error"
    world.sql(f"INSERT INTO mails ({named}) VALUES ({mail})")  # noqa: S608 - the values are ours
    invitations.insert(world, clerk)
    insert_note(world)
    insert_board(world)
    insert_signal(world)
    token = f"'{TOKEN_ID}', '{TOKEN_ID}', '{clerk}', 'none', read_only, 0, {far}, 0"
    names = "id, family_id, user_id, access_hash, read_only, issued_at, access_expires, refresh_expires"
    world.sql(f"INSERT INTO tokens ({names}) SELECT {token} FROM tokens LIMIT 1")  # noqa: S608 - the values are ours
    command = f"4711, '{SERVER}', 'waiting', 0"  # the number is that of the example
    world.sql(f"INSERT INTO deliveries (seq, server, state, queued_at) VALUES ({command})")  # noqa: S608 - the values are ours
    held_gifts.hold(world, APPROVAL_ID, people.USER_IDS["Shop"], "Bob", people.ARROW.id)
    guild_rows.insert(world, {people.ANN.id: 0, people.ZOE.id: 2})
    guild_values.insert(world)
    bulking.insert(world)
