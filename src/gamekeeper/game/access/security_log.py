"""The security log: sign-ins, failed guesses, credentials, roles and approvals. It is beside the audit log.

Most events are recorded in the transaction of what they describe. Failed guesses have no transaction of their own, and
an attacker chooses how many there are: they are collected in memory, added up, and written together.
"""

from collections import Counter
from collections.abc import AsyncGenerator, Iterable, Mapping
from itertools import islice
from typing import NamedTuple

import msgspec

from gamekeeper.game.access.changes import (
    IdentitiesChanged,
    PasswordChanged,
    PowersChanged,
    RoleDeleted,
    RoleSaved,
    RolesChanged,
    SecondFactorsChanged,
    SecondFactorsReset,
    UserChange,
    UserRegistered,
)
from gamekeeper.game.access.guess_limits import find_network
from gamekeeper.game.access.permissions import API, COLUMNS
from gamekeeper.game.core import lookup
from gamekeeper.game.core.background_jobs import Erasure, OldRows
from gamekeeper.game.core.change import Change, Unlogged
from gamekeeper.game.core.request import UNKNOWN_ORIGIN, FindOrigin, Origin, SecurityEvent
from gamekeeper.store.access import security_log
from gamekeeper.store.access.roles import NO_GRANTS, Powers
from gamekeeper.store.access.security_log import SecurityFilter, SecurityRow
from gamekeeper.store.accounts.users import User
from gamekeeper.store.engine.interface import Reading, Store, Writing
from gamekeeper.store.insight import activity

KINDS: Mapping[str, str] = {
    "sign_in": "An account signed in. The credential is the new token or session. `By`: issuer of OpenID Connect.",
    "guess_failed": "A password or code was wrong. `Count`: how many times in a few seconds, from this address.",
    "guess_refused": "A guess was refused, because there were too many. `Count`: as above.",
    "token_issued": "A token was issued without a password: with a refresh token, or on the command line.",
    "token_reused": "A refresh token was used again after its exchange; the tokens of its log-in were revoked.",
    "token_revoked": "One token or session was revoked.",
    "tokens_revoked": "All tokens of an account were revoked, or all its sessions. `By` of its details: why.",
    "key_created": "An API key was created. The account is its owner; the credential is the key.",
    "key_rotated": "An API key got a new secret.",
    "key_changed": "An API key was renamed, suspended or resumed, or got another owner. `Changed`: what of it.",
    "key_revoked": "An API key was revoked.",
    "new_address": "A credential was used from an address for the first time.",
    "many_addresses": "An account or API key was used from more than 50 addresses. Further ones are not recorded.",
    "password_changed": "An account got a new password; all its tokens were revoked.",
    "second_factors_changed": "An account added or removed a second factor, or renewed its recovery codes.",
    "second_factors_reset": "All second factors of an account were removed by somebody else; its tokens were revoked.",
    "recovery_code_used": "A recovery code was used in place of a second factor.",
    "identities_changed": "An account linked a sign-in with OpenID Connect, or removed one.",
    "oidc_refused": "A sign-in with OpenID Connect was refused. `Count`: as above.",
    "roles_kept": "A sign-in with OpenID Connect would have taken roles from the last account that can manage staff.",
    "roles_changed": "An account got or lost roles or directly granted permissions.",
    "approval_requested": "A change was held, because it needs the approval of a second person.",
    "approval_granted": "A held change was approved and carried out. The account is that of the requester.",
    "approval_denied": "A held change was denied. The account is that of the requester.",
    "person_exported": "All data of an account's person was exported over the API or the console.",
    "role_edited": "A role was created, edited or deleted.",
}
COMMAND_LINE = "command line"  # in the details of an event: who caused it, instead of an account
MAX_BROWSER = 200  # characters of the header User-Agent that are stored
PIECE_ROWS = 250  # events that one statement of a long page reads
FLUSH_SECONDS = 5.0  # interval between writes of failed guesses
MAX_GROUPS = 100  # kinds of failed guesses (account, caller and address) in one write; others are added up in one event
MAX_ADDRESSES = 50  # known addresses of an account or API key; a key in a web page is used from any number of them
OTHER_ADDRESSES = "others"  # stands for all further addresses
MAX_USES = 1000  # used addresses, of all accounts and API keys together, that one transaction stores at most
USED_PAUSE_MS = 24 * 60 * 60 * 1000  # an address that is in use is updated once a day


class CredentialUse(NamedTuple):
    """A use of a token or an API key. `holder_id`: the account for its tokens, else the API key."""

    credential_id: str
    holder_id: str
    user_id: str
    address: str


class EventPage(NamedTuple):
    events: list[SecurityRow]
    next: tuple[int, str] | None  # cursor of the next page: time and id


def record(tx: Writing, *events: SecurityEvent) -> None:
    """Record events in the transaction of what they describe."""
    if events:
        security_log.insert(tx, map(_make_row, events))


def record_decision(
    tx: Writing,
    changes: Iterable[Change | Unlogged],
    events: Iterable[SecurityEvent],
    actor_id: str | None,
    find_origin: FindOrigin | None,
) -> None:
    """Record the events of a decision: those that its rule gave, and those that follow from its changes."""
    found = [*events]
    for change in changes:
        if isinstance(change, (UserChange, RoleSaved, RoleDeleted)):
            found += _describe(change)
    if found:
        origin = find_origin() if find_origin else UNKNOWN_ORIGIN
        record(tx, *(each._replace(actor_id=actor_id, origin=origin) for each in found))


def make_origin(address: str, browser: bytes) -> Origin:
    text = browser.decode("utf-8", "replace")[:MAX_BROWSER]
    return Origin(address or None, "".join(each if each.isprintable() else " " for each in text).strip() or None)


async def note_uses(tx: Writing, uses: Iterable[CredentialUse]) -> None:
    """Store from where credentials were used, and record an event for each new address.

    A holder has at most MAX_ADDRESSES: further ones are stored as one, OTHER_ADDRESSES, with one event.
    """
    used = {(each.holder_id, find_network(each.address)): each for each in uses if each.address}
    if not used:
        return
    known = await security_log.read_known_addresses(tx, sorted({holder for holder, _ in used}))
    counts = Counter(holder for holder, network in known if network != OTHER_ADDRESSES)
    by_place: dict[tuple[str, str], CredentialUse] = {}
    for (holder, network), use in islice(used.items(), MAX_USES):
        is_new = (holder, network) not in known
        if is_new and counts[holder] >= MAX_ADDRESSES:
            by_place[holder, OTHER_ADDRESSES] = use
        else:
            counts[holder] += is_new
            by_place[holder, network] = use
    rows = [
        {"holder_id": holder, "address": network, "user_id": by_place[holder, network].user_id}
        for holder, network in sorted(by_place)
    ]
    new = await security_log.note_addresses(tx, rows, USED_PAUSE_MS)
    record(tx, *(_describe_use(network, by_place[holder, network]) for holder, network in sorted(new)))


async def load_pages(
    tx: Reading, wanted: SecurityFilter, before: tuple[int, str], limit: int
) -> AsyncGenerator[EventPage]:
    """Yield a long page in parts of a few milliseconds each; `next` of the last part is the cursor."""
    left, cursor = limit, before
    while True:
        part = await load_page(tx, wanted, cursor, min(left, PIECE_ROWS))
        left -= len(part.events)
        yield part
        if part.next is None or not left:
            return
        cursor = part.next


async def load_page(tx: Reading, wanted: SecurityFilter, before: tuple[int, str], limit: int) -> EventPage:
    found = await security_log.read_page(tx, wanted, before, limit + 1)
    shown = found[:limit]
    return EventPage(shown, (shown[-1].at, shown[-1].id) if len(found) > limit else None)


class FailedGuesses:
    """Failed guesses that are not written yet. Equal ones are added up, and one write has a bounded number of rows."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._counts: dict[SecurityEvent, int] = {}

    def add(self, kind: str, user_id: str | None, actor_id: str | None, address: str) -> None:
        """Collect a failed guess. Beyond MAX_GROUPS different ones, only their number is kept."""
        event = SecurityEvent(kind, user_id, actor_id, Origin(address or None))
        if event not in self._counts and len(self._counts) >= MAX_GROUPS:
            event = SecurityEvent(kind, None)
        self._counts[event] = self._counts.get(event, 0) + 1

    async def flush(self) -> None:
        """Write the collected events. They are lost if the database is away."""
        counts, self._counts = self._counts, {}
        if not counts:
            return
        rows = [_make_row(event._replace(details={"Count": count})) for event, count in counts.items()]

        async def write(tx: Writing) -> None:
            security_log.insert_late(tx, rows)

        await self._store.write(write)


def _describe_use(network: str, use: CredentialUse) -> SecurityEvent:
    kind = "many_addresses" if network == OTHER_ADDRESSES else "new_address"
    return SecurityEvent(kind, use.user_id, use.user_id, Origin(use.address), use.credential_id)


def _make_row(event: SecurityEvent) -> dict[str, str | None]:
    return {
        "id": lookup.new_guid(),
        "kind": event.kind,
        "user_id": event.user_id,
        "actor_id": event.actor_id,
        "address": event.origin.address,
        "browser": event.origin.browser,
        "credential_id": event.credential_id,
        "details": msgspec.json.encode(event.details).decode() if event.details else None,
    }


def _describe(change: UserChange | RoleSaved | RoleDeleted) -> list[SecurityEvent]:
    found: list[SecurityEvent] = []
    match change:
        case RolesChanged(user=user, after=after):
            found = _describe_grants(user._replace(powers=after.powers), after)
        case PowersChanged(user=user, powers=powers):
            found = _describe_grants(user, user._replace(powers=powers))
        case UserRegistered(user=user):
            found = _describe_grants(user._replace(powers=Powers(), grants=NO_GRANTS), user)
        case PasswordChanged(user=user):
            found = [SecurityEvent("password_changed", user.id)]
        case SecondFactorsChanged(user=user) | SecondFactorsReset(user=user) | IdentitiesChanged(user=user):
            before, after = change.sides()
            field = "identities" if isinstance(change, IdentitiesChanged) else "second_factors"
            details = {"Before": before.user[field], "After": after.user[field]}
            found = [SecurityEvent(change.kind, user.id, details=details)]
        case UserChange(user=user, ends_access=by) if by:
            found = [SecurityEvent("tokens_revoked", user.id, details={"By": by})]
        case RoleSaved(before=before, after=after):
            had = before.permissions if before else frozenset[str]()
            edits = {"Added": sorted(after.permissions - had), "Removed": sorted(had - after.permissions)}
            found = [SecurityEvent("role_edited", None, details={"Role": after.name, **edits})]
        case RoleDeleted(role=role):
            found = [SecurityEvent("role_edited", None, details={"Role": role.name, "Deleted": True})]
        case _:
            pass
    return found


def _describe_grants(before: User, after: User) -> list[SecurityEvent]:
    had, has = _list_grants(before), _list_grants(after)
    details = {"Given": sorted(has - had), "Taken": sorted(had - has)}
    return [SecurityEvent("roles_changed", after.id, details=details)] if had != has else []


def _list_grants(user: User) -> set[str]:
    """List the roles and directly granted permissions of an account; `api` is the role."""
    flags = {COLUMNS.get(name, name) for name, held in user.powers._asdict().items() if held and name != API}
    return {*user.grants.roles, *user.grants.direct, *flags, *([API] if user.powers.api else [])}


async def _erase(tx: Writing, owner_id: str, most: int) -> int:
    return await security_log.delete_of_user(tx, owner_id, most) or await security_log.blank_by_actor(
        tx, owner_id, most
    )


async def _delete_old(tx: Writing, before_ms: int, most: int) -> int:
    # sign-ins after this time are not in the rollups yet
    counted = (await activity.find_checkpoint(tx, activity.SIGN_INS)).position * 3_600_000  # in hours
    return await security_log.delete_old(tx, min(before_ms, counted), most)


ERASURES = (Erasure(10, _erase),)
OLD_ROWS = (OldRows(30, lambda settings: settings.security_days, _delete_old),)
