"""Call every operation once on one world, and undo each write, so that the next call finds the same state."""

from collections.abc import Callable, Iterator
from typing import Any

from good_requests import (
    APPROVAL_ID,
    CODE,
    EXAMPLES,
    FAR,
    KEY_ID,
    MAIL_ID,
    MONAS_ID,
    SERVER,
    Example,
    insert_board,
    insert_delivery,
    insert_note,
)

import api_keys
import bulking
import guild_rows
import guild_values
import held_gifts
import invitations
import people
from gamekeeper.game.core.undo import RULES
from gamekeeper.http.contract import examples
from gamekeeper.http.contract.operation import WRITE
from signalling import insert_signal
from undos import last, undone
from world import SENT, Answer, World

ANN = people.USER_IDS["Ann"]
LEAVER = "Leaver"
ERASURE, REGISTER = "DELETE /api/v1/users/[lookupKey]", "POST /api/v1/users/register"
FEED, LOG_IN = "GET /api/link/v1/changes", "POST /api/oauth/token"
Send = Callable[[Example, str, Any], Answer]  # function that sends an operation's request with this path and body


def name_of(example: Example) -> str:
    return f"{example.route.method} {example.route.path}"


def send(world: World, example: Example, path: str, body: object) -> Answer:
    return world.call(example.route.method, path, body=body)


def run_all(world: World, ask: Send, newcomer: str) -> Iterator[tuple[Example, Answer]]:
    """Yield each operation with its answer. `newcomer` is an unused account name for the registration."""
    ((password,),) = world.sql("SELECT password FROM users WHERE id = $1", ANN)
    _restore(world, password)
    for example in EXAMPLES:
        since = last(world)
        yield example, ask(example, *_request(world, example, newcomer))
        if example.route.access is WRITE:
            _take_back(world, since)
            _restore(world, password)


def _request(world: World, example: Example, newcomer: str) -> tuple[str, Any]:
    """Return path and body of a request; an erasure gets its own account, because it deletes stored answers."""
    operation = name_of(example)
    register = {"username": LEAVER, "password": SENT, "email": "leaver@example.test"}
    if operation == ERASURE:
        assert world.post("/api/v1/users/register", register).status == 200
        return example.path.replace("Ann", LEAVER), None
    if operation == REGISTER:
        return example.path, register | {"username": newcomer, "email": f"{newcomer.lower()}@example.test"}
    if operation == FEED:
        return f"{example.path}?after=1", None  # ask for later changes: retention has deleted the first one
    return example.path, example.body


def _restore(world: World, password: str) -> None:
    """Restore state that no undo restores: Ann's password, tokens, a reset code, a mail, a held gift, players."""
    world.sql("UPDATE users SET password = $2 WHERE id = $1", ANN, password)
    world.sql("UPDATE tokens SET revoked_at = NULL WHERE revoked_at IS NOT NULL")
    world.sql("DELETE FROM token_rounds")
    world.sql("DELETE FROM resets")
    world.insert("resets", user_id=ANN, code=CODE, tries_left=1000, expires_at=FAR, mail_id=MAIL_ID)
    world.sql("UPDATE mails SET failed_at = 1, next_try_at = NULL, taken_until = NULL WHERE id = $1", MAIL_ID)
    world.sql("DELETE FROM roles WHERE name = 'quartermaster'")
    world.post("/api/keeper/v1/roles", {"name": examples.ROLE, "permissions": ["players.read"]})
    api_keys.insert(world, KEY_ID, people.USER_IDS["Clerk"])
    invitations.insert(world, people.USER_IDS["Clerk"])
    for (player_id,) in world.sql("SELECT DISTINCT player_id FROM tags"):
        world.post("/api/keeper/v1/tags", {"Tags": [], "Player": str(player_id)})
    world.sql("DELETE FROM item_pictures")
    insert_note(world)
    insert_board(world)
    insert_signal(world)
    world.sql("DELETE FROM approvals")
    held_gifts.hold(world, APPROVAL_ID, people.USER_IDS["Shop"], "Bob", people.ARROW.id)
    guild_rows.insert(world, {people.ZOE.id: 0})
    guild_values.insert(world)
    bulking.insert(world)
    world.sql("DELETE FROM server_variables WHERE id = $1", people.DOUBLE_XP.id)
    columns = people.DOUBLE_XP._asdict()
    del columns["details"]  # a column of other kinds only
    world.insert("server_variables", **columns)
    world.sql("DELETE FROM deliveries WHERE seq = 4711")
    insert_delivery(world, SERVER)
    server = f"/api/link/v1/servers/{SERVER}"
    world.call("PUT", server, body={"Lease": 3600})
    world.post(f"{server}/left", {"Players": [people.BOB.id]})
    world.post(f"{server}/joined", {"Players": [MONAS_ID]})


def _take_back(world: World, since: int) -> None:
    """Undo the changes with a number above `since`, sorted by kind, so that items come before equipment."""
    made = [each for each in world.ledger() if each.seq > since and each.kind in RULES]
    for each in sorted(made, key=lambda each: each.kind):
        if each.kind.startswith("user_") and each.player_id:
            # skipped: this change only tells the game of a ban or mute; the change of the account is undone instead
            continue
        answer = undone(world, each.seq)
        assert answer.status == 200, (each.kind, answer.raw)
