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
from gamekeeper.game.insight.boards import SaveBoard, SaveSeason, StartSeason
from gamekeeper.http.access import credential_shapes, role_shapes
from gamekeeper.http.contract import examples
from gamekeeper.http.contract.operation import WRITE, Operation, Route
from gamekeeper.http.routes import ROUTES
from gamekeeper.http.world import link_shapes
from signalling import SIGNAL_ID, insert_signal
from world import SENT, World

SERVER = "realm1"
CODE = "a-code-that-was-mailed"
FAR = 4_000_000_000_000  # a time in the year 2096, in milliseconds since 1970
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
    "invitationId": examples.MAIL_ID,
    "keyId": KEY_ID,
    "approvalId": APPROVAL_ID,
    "noteId": NOTE_ID,
    "signalId": SIGNAL_ID,
    "tag": "refunds",
    "board": examples.BOARD,
    "season": "1",
    "jobId": bulking.JOB_ID,
    "userId": people.USER_IDS["Ann"],
    "playerId": people.ANN.id,
    "guildId": guild_rows.GUILD_ID,
    "role": examples.ROLE,
}
# Accounts by operation, where Ann does not fit: Bob is banned and muted, and Mona has an online player.
OTHERS = {
    **dict.fromkeys(("unban", "unmute"), "Bob"),
    **dict.fromkeys(("kick", "kill", "warpto", "warptoloc", "direct/[lookupKey]"), "Mona"),
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
    examples.DRAUGHT: people.COIN.id,
    examples.COIN: people.COIN.id,
    examples.EMBER_LANCE: people.HEAL.id,
    examples.STONE_SKIN: people.FIREBALL.id,
    examples.WARDEN: people.WARRIOR.id,
    examples.PLAYER_ID: people.BOB.id,
    examples.KEEPER: "Clerk",
    examples.HASH: SENT,
    examples.PLAYER: "Ann",
    examples.CODE: CODE,
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
    world.ensure("notes", id=NOTE_ID, user_id=people.USER_IDS["Ann"], at=0, text="Polite.", warning=False)


def insert_board(world: World) -> None:
    """Insert a board of coins with a final season, in which nobody is, in place of all other boards."""
    for table in ("hidden_accounts", "seasons", "boards"):
        world.sql(f"DELETE FROM {table}")  # noqa: S608 - ours
    ranks: dict[str, Any] = {"ranks": "item", "thing_id": people.COIN.id, "gain": False, "created_at": 0}
    flags = {"hide_staff": True, "public": True, "deleted": False}
    world.insert("boards", id=BOARD_ID, name=examples.BOARD, title="Most silver", **ranks, **flags)
    lasts = {"starts_at": 1000, "ends_at": 2000, "seq": 0, "final": True}
    world.insert("seasons", id=BOARD_ID, board_id=BOARD_ID, number=1, title="Spring", **lasts)


def insert_reset(world: World, user_id: str, mail_id: str, code: str, address: str) -> None:
    """Insert a reset code of an account, and its mail, which failed."""
    world.insert("resets", user_id=user_id, code=code, tries_left=1_000_000, expires_at=FAR, mail_id=mail_id)
    failed = {"queued_at": 0, "expires_at": FAR, "tries": 1, "failed_at": 1, "last_error": "refused"}
    world.insert("mails", id=mail_id, user_id=user_id, kind="password_reset", address=address, **failed)


def insert_token(world: World, token_id: str, user_id: str) -> None:
    """Insert a token that nobody can use, with a known id."""
    times = {"issued_at": 0, "access_expires": FAR, "refresh_expires": 0}
    world.insert(
        "tokens", id=token_id, family_id=token_id, user_id=user_id, access_hash="none", read_only=False, **times
    )


def insert_delivery(world: World, server: str) -> None:
    """Insert a command for a game server, with the number of the documented examples."""
    world.insert("deliveries", seq=4711, server=server, state="waiting", queued_at=0)


def furnish(world: World) -> None:
    """Add to the test world what the example requests need and people.py does not create.

    This is a game server with an online player of Mona's, a mail with a reset code, a token and an API key with known
    ids, a role, a held gift, a guild, and a ban and a mute of Bob.
    """
    world.post("/api/keeper/v1/roles", {"name": examples.ROLE, "permissions": ["players.read"]})
    world.call("PUT", f"/api/link/v1/servers/{SERVER}", body={"Lease": 3600})
    monas = {"Name": "Mona", "UserId": people.USER_IDS["Mona"], "CreationDate": "2026-01-31T12:00:00Z"}
    world.call("PUT", f"/api/link/v1/players/{MONAS_ID}", body=monas)
    world.post(f"/api/link/v1/servers/{SERVER}/joined", {"Players": [MONAS_ID]})
    for act in ("ban", "mute"):
        world.post(f"/api/v1/users/Bob/admin/{act}", {})
    ann, clerk = people.USER_IDS["Ann"], people.USER_IDS["Clerk"]
    api_keys.insert(world, KEY_ID, clerk)
    insert_reset(world, ann, MAIL_ID, CODE, "ann@example.test")
    invitations.insert(world, clerk)
    insert_note(world)
    insert_board(world)
    insert_signal(world)
    insert_token(world, TOKEN_ID, clerk)
    insert_delivery(world, SERVER)
    held_gifts.hold(world, APPROVAL_ID, people.USER_IDS["Shop"], "Bob", people.ARROW.id)
    guild_rows.insert(world, {people.ANN.id: 0, people.ZOE.id: 2})
    guild_values.insert(world)
    bulking.insert(world)
