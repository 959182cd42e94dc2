"""Filling a database with the demo world, through the write path like every other change."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass

from gamekeeper.demo import characters, world
from gamekeeper.demo.names import stable_id
from gamekeeper.game import accounts, catalogue, passwords, tokens
from gamekeeper.game.changes import Decision, Intent
from gamekeeper.game.effects import (
    Change,
    PlayerCreated,
    PlayersLoaded,
    Untraced,
    UserMuted,
    UserRegistered,
    UsersLoaded,
)
from gamekeeper.game.keeper import Keeper
from gamekeeper.store import players, presence, users
from gamekeeper.store.engine import Reading

BATCH = 1000
TOKEN_HOURS = 24
BY_DEMO = Intent(request_id="demo")


class NotADemo(Exception):
    """The database has accounts or characters that are not the demo's; the message says what to do."""


@dataclass(frozen=True, slots=True)
class Access:
    """What opens the demo: only its caller ever knows these."""

    account: str
    password: str
    sent: str  # the password as clients send it
    token: str
    everybody: bool  # whether the players' accounts have this password too


async def fill(keeper: Keeper, password: str) -> Access:
    """The demo world, if it is not there yet, and an API account with this password."""
    sent = passwords.wire_form(password)
    if await users.by_id(keeper.store, stable_id("user", world.API_ACCOUNT)) is None:
        await _create(keeper, sent)
    await _set_password(keeper, sent)
    api, player = [await _account(keeper, name) for name in (world.API_ACCOUNT, next(iter(world.ACCOUNTS)))]
    pair = await tokens.issue_for_service(keeper, api, TOKEN_HOURS, read_only=False)
    return Access(api.name, password, sent, pair.access, await keeper.passwords.right(sent, player.password))


async def load_players(keeper: Keeper, wanted: int, advance: Callable[[int], None]) -> None:
    """As many numbered players as wanted, in batches; those that are there already are passed over."""
    numbers = [range(first, min(first + BATCH, wanted)) for first in range(0, wanted, BATCH)]
    batch: list[characters.Character] = []
    for following in [*numbers, range(0)]:  # one batch is made up while the one before it is written
        making = asyncio.to_thread(characters.numbered, following)
        _, made = await asyncio.gather(_load(keeper, batch), making)
        advance(len(batch))
        batch = made


async def _load(keeper: Keeper, batch: list[characters.Character]) -> None:
    async def decide(tx: Reading) -> Decision[None]:
        return Decision(await _missing(tx, batch), None)

    if batch:
        await keeper.changes.apply(BY_DEMO, decide, lambda _: b"")


async def _create(keeper: Keeper, sent: str) -> None:
    """In one transaction: half a world is never there."""
    hashes = {name: await keeper.passwords.hashed(sent) for name in (world.API_ACCOUNT, *world.ACCOUNTS)}

    async def decide(tx: Reading) -> Decision[None]:
        if await users.count(tx) or await players.count(tx):
            raise NotADemo(
                "This database has accounts or characters that are not the demo's, so the demo leaves it alone. "
                "Give it an empty one, with --data DIR or --database URL; to serve this one, run gamekeeper serve."
            )
        changes: list[Change | Untraced] = []
        for kind, entries in world.CATALOGUE.items():
            changes += (await catalogue.put(tx, kind, entries)).changes
        return Decision([*changes, *_inhabitants(hashes)], None)

    await keeper.changes.apply(BY_DEMO, decide, lambda _: b"")


def _inhabitants(hashes: dict[str, str]) -> list[Change]:
    powers = {world.API_ACCOUNT: world.API_POWERS}
    inhabitants = [
        characters.account(stable_id("user", name), name, password, powers.get(name, world.NO_POWERS))
        for name, password in hashes.items()
    ]
    return [
        *(UserRegistered(user) for user in inhabitants),
        *(UserMuted(user, world.MUTED[user.name]) for user in inhabitants if user.name in world.MUTED),
        *(PlayerCreated(player, belongings) for player, belongings in characters.named()),
    ]


async def _set_password(keeper: Keeper, sent: str) -> None:
    api = await _account(keeper, world.API_ACCOUNT)
    if await keeper.passwords.right(sent, api.password):
        return  # a new password would end the tokens of the old one
    stored = await keeper.passwords.hashed(sent)

    async def decide(tx: Reading) -> Decision[users.User]:
        return await accounts.change_password(tx, api.id, stored, proven=None)

    await keeper.changes.apply(BY_DEMO, decide, lambda _: b"")


async def _account(keeper: Keeper, name: str) -> users.User:
    found = await users.by_id(keeper.store, stable_id("user", name))
    if found is None:
        raise NotADemo(f"The demo's account {name} is gone. Start afresh with another --data DIR or --database URL.")
    return found


async def _missing(tx: Reading, batch: list[characters.Character]) -> list[Change]:
    there = await presence.known_players(tx, [player.id for player, _ in batch])
    new = [(player, belongings) for player, belongings in batch if player.id not in there]
    owned = await users.known_ids(tx, [player.user_id for player, _ in new])
    owners = [characters.numbered_account(player) for player, _ in new if player.user_id not in owned]
    return [*([UsersLoaded(owners)] if owners else []), *([PlayersLoaded(new)] if new else [])]
