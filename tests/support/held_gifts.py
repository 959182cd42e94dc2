"""A gift that waits for approval, as a rule would hold it, in a world without rules."""

import json
from functools import partial
from urllib.parse import quote

from gamekeeper.game.audit import approvals
from gamekeeper.game.core.request import HeldRequest
from gamekeeper.game.core.writes import Intent
from gamekeeper.game.players import items
from gamekeeper.game.players.inventory import read_capacity
from gamekeeper.store.engine.interface import Writing
from world import World


def hold(world: World, approval_id: str, requester_id: str, player: str, item_id: str) -> None:
    room, intent = read_capacity(world.keeper.settings), Intent("held", actor_id=requester_id, dry_run=True)
    decide = partial(items.give, key=player, item_id=item_id, quantity=1, room=room, overflow=True)
    tried = world.run(world.keeper.changes.apply(intent, decide, lambda _: b""))
    body = json.dumps({"itemid": item_id, "quantity": 1, "bankoverflow": True}).encode()
    held = HeldRequest("POST", f"/api/v1/players/{quote(player)}/items/give", "", "application/json", body)

    async def insert(tx: Writing) -> None:
        approvals.hold(tx, "items.give", 24, held, tried.entries, tried.state_fingerprint, None)

    world.run(world.keeper.store.write(insert))
    world.sql("UPDATE approvals SET id = $1", approval_id)
