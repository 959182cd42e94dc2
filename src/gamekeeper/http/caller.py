"""Authorization header → caller. A token found good is believed for a few seconds without asking again."""

import time
from dataclasses import dataclass

from gamekeeper.game.refusals import Denied, PowerMissing, RoleMissing
from gamekeeper.game.tokens import ACCESS_PREFIX, hash_token
from gamekeeper.store import tokens
from gamekeeper.store.engine import Store

CACHE_SECONDS = 4.0  # a revocation elsewhere is seen within five
MAX_CACHED_TOKENS = 10_000
MAX_TOKEN_LENGTH = 255
POWERS = frozenset({"ban", "kick", "mute"})  # the account's own, in the game; asked for like roles


@dataclass(frozen=True, slots=True)
class Caller:
    account_id: str
    name: str
    token_id: str
    read_only: bool
    permissions: frozenset[str]  # roles, and the powers that the API asks for
    is_session: bool = False  # a person's in a browser, which ends when they rest

    def require(self, needs: frozenset[str]) -> None:
        missing = needs - self.permissions
        if missing & POWERS:
            raise PowerMissing(power=min(missing & POWERS).title())
        if missing:
            raise RoleMissing(role=min(missing))


class Callers:
    def __init__(self, store: Store) -> None:
        self._store = store
        # by the digest of the token: one entry however the header spells it, and no token in memory
        self._believed: dict[str, tuple[Caller, float]] = {}
        self._used: set[str] = set()

    @property
    def cached_tokens(self) -> int:
        """How many tokens; some of them may have to be asked about again."""
        return len(self._believed)

    async def find_caller(self, authorization: bytes | None, *, used: bool = True) -> Caller:
        """`used`: whether this counts as a use of the token, or somebody only looks whether it is still good."""
        access_hash = hash_token(_read_token(authorization or b""))
        found = self._believed.get(access_hash)
        if found is not None and found[1] > time.monotonic():
            return found[0]
        return await self._load_caller(access_hash, used=used)

    def clear_cache(self) -> None:
        """After a revocation: in this process it holds at once, also for a token that is being asked about now."""
        self._believed = {}

    def take_used_tokens(self) -> set[str]:
        """The ids of the tokens used since this was last asked; whoever takes them writes them down."""
        used, self._used = self._used, set()
        return used

    async def _load_caller(self, access_hash: str, *, used: bool) -> Caller:
        asked, believed = time.monotonic(), self._believed
        row = await tokens.find_caller(self._store, access_hash)
        if row is None:
            raise Denied
        held = {"users.query": row.users_query, "users.manage": row.users_manage, "game.link": row.game_link}
        powers = {"ban": row.ban, "kick": row.kick, "mute": row.mute}
        rights = frozenset(right for right, has in (held | powers).items() if has)
        caller = Caller(row.user_id, row.name, row.token_id, row.read_only, rights, row.session)
        if not used:
            return caller  # not believed: the next use would go by without being noted
        self._used.add(row.token_id)
        if len(believed) >= MAX_CACHED_TOKENS:
            believed.clear()
        believed[access_hash] = caller, asked + min(CACHE_SECONDS, row.life_ms / 1000)
        return caller


def _read_token(authorization: bytes) -> str:
    scheme, _, token = authorization.decode("latin-1").strip().partition(" ")
    token = token.strip()
    if (
        scheme.lower() != "bearer"
        or not token.startswith(ACCESS_PREFIX)
        or len(token) > MAX_TOKEN_LENGTH
        or not token.isascii()
    ):
        raise Denied
    return token
