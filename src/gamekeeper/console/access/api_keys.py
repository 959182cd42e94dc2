"""The page of API keys: all keys with what they may do, forms to change them, and the text of a new key, shown once.

Dialogs name the keys that lose permissions when their owner is demoted, suspended or banned.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import msgspec
from msgspec import Struct

from gamekeeper.console.frame import api_calls, pages
from gamekeeper.console.frame.api_calls import ApiCall
from gamekeeper.console.frame.formats import format_number, format_time
from gamekeeper.console.frame.menu import ADMINISTRATION, KEYS
from gamekeeper.console.frame.routes import Dialog, page_route
from gamekeeper.console.frame.texts import gettext
from gamekeeper.game.access import api_keys
from gamekeeper.game.access.permissions import PERMISSIONS
from gamekeeper.game.accounts.changes import UserBanned
from gamekeeper.game.core import lookup
from gamekeeper.http.access.credential_shapes import MAX_GRACE_MINUTES, IssuedKey, KeyList, KeyRecord, WeakenedKey
from gamekeeper.http.server.request import Request
from gamekeeper.http.server.response import Response
from gamekeeper.store.access import api_keys as rows
from gamekeeper.store.access import roles
from gamekeeper.store.access.roles import Role
from gamekeeper.store.accounts import users
from gamekeeper.store.engine.interface import Reading
from gamekeeper.store.world import catalogue

OPERATIONS = "/api/keeper/v1/keys"
ISSUING = frozenset({"create_key", "rotate_key"})  # operations whose answer has the text of a key
DESCRIBED = ISSUING | {"change_key", "revoke_key"}  # operations whose answer is the record of a key
_decode_list = msgspec.json.Decoder(KeyList).decode
_decode_issued = msgspec.json.Decoder(IssuedKey).decode
_decode_record = msgspec.json.Decoder(KeyRecord).decode


class Fact(NamedTuple):
    label: str
    text: str


class KeyView(NamedTuple):
    key: KeyRecord
    state: str
    held: frozenset[str]  # permissions of the key or its role
    withheld: list[str]  # permissions that the key lacks now, because its owner does
    limits: list[Fact]
    can_edit: bool  # the viewer has all permissions of the key, and so may rotate and change it


async def show(request: Request) -> Response:
    listed = _decode_list((await api_calls.send(request, ApiCall("GET", OPERATIONS))).content).Keys
    names, table = await request.services.keeper.store.read(lambda tx: _load(tx, listed))
    first = await catalogue.read_page(request.services.keeper.store, "items", 1, 0)
    views = [_make_view(request, each, table, names) for each in listed]
    return pages.render(
        request,
        "access/api_keys.html",
        keys=[each for each in views if each.key.RevokedAt is None],
        revoked=[each for each in views if each.key.RevokedAt is not None],
        offered=[each.name for each in table.values() if _list_allowed((), each) <= request.caller.permissions],
        permissions=PERMISSIONS,
        most_minutes=MAX_GRACE_MINUTES,
        example_item=first[0].name if first else "",
    )


def is_issued_by(request: Request, call: ApiCall) -> bool:
    """Tell whether the answer to a call has the text of a key."""
    return api_calls.find_operation(request, call.method, call.path)[0].name in ISSUING


def show_issued(request: Request, answer: Response, back: str) -> Response:
    """Show the text of a key in the answer to the form itself: a redirect would need it in an address."""
    page, _, _ = back.partition("#")  # a link to a part of the page behind the dialog would not reload that page
    return pages.render(request, "access/api_key_issued.html", key=_decode_issued(answer.content), back=page)


async def list_facts(request: Request, operation: str, call: ApiCall, answer: Response) -> list[Fact]:
    """Describe the key that a call creates or changes, for its dialog. Other calls have no facts."""
    if operation not in DESCRIBED:
        return []
    key, store = _decode_record(answer.content), request.services.keeper.store
    names, _ = await store.read(lambda tx: _load(tx, [key]))
    sent = {name.lower(): str(value) for name, value in (call.body or {}).items()}
    allowed = Fact(gettext("Role"), key.Role) if key.Role else Fact(gettext("Permissions"), ", ".join(key.Permissions))
    ends = format_time(key.ExpiresAt) if key.ExpiresAt else gettext("never")
    used = format_time(key.LastUsedAt) if key.LastUsedAt else gettext("never")
    facts = [Fact(gettext("Name"), key.Name), Fact(gettext("Owner"), key.Owner), allowed]
    if "replaces" in sent:
        facts.append(Fact(gettext("Continues the Idempotency-Keys of"), await _name_replaced(store, sent["replaces"])))
    return [*facts, *_list_limits(key, names), Fact(gettext("Expires"), ends), Fact(gettext("Last used"), used)]


async def _name_replaced(tx: Reading, replaced: str) -> str:
    """Return the name of the key or account whose Idempotency-Keys a new key continues."""
    guid = lookup.parse_guid(replaced)
    key = await rows.find(tx, guid) if guid else None
    if key:
        return gettext("API key %(name)s of %(owner)s", name=key.name, owner=key.user)
    return gettext("account %(name)s", name=(await lookup.find_user(tx, replaced)).name)


async def _load(tx: Reading, keys: Iterable[KeyRecord]) -> tuple[dict[str, str], dict[str, Role]]:
    """Load the names of the items that the keys may give, and all roles."""
    wanted = {item for key in keys for item in key.Items or ()}
    found = await catalogue.find_by_ids(tx, "items", wanted) if wanted else {}
    return {item: entry.name for item, entry in found.items() if entry.name}, await roles.read_all(tx)


def _make_view(request: Request, key: KeyRecord, table: Mapping[str, Role], names: Mapping[str, str]) -> KeyView:
    held = _list_allowed(key.Permissions, table.get(key.Role or ""))
    return KeyView(
        key,
        _describe_state(key),
        held & PERMISSIONS.keys(),
        sorted(held - frozenset(key.Effective)) if key.Active else [],
        _list_limits(key, names),
        held <= request.caller.permissions and not request.caller.read_only,
    )


def _list_allowed(named: Iterable[str], role: Role | None) -> frozenset[str]:
    """Return what a key with this role allows; without a role, a key with the named permissions."""
    return api_keys.include(named) if role is None else api_keys.include(role.permissions, role.name)


def _describe_state(key: KeyRecord) -> str:
    if key.RevokedAt:
        return gettext("revoked")
    if key.SuspendedAt:
        return gettext("suspended")
    if not key.Active:
        return gettext("expired")
    return gettext("active") if key.Effective else gettext("without effect")


def _list_limits(key: KeyRecord, names: Mapping[str, str]) -> list[Fact]:
    given = (
        (gettext("Addresses"), _join(key.Addresses)),
        (gettext("Requests per minute"), _format(key.PerMinute)),
        (gettext("Items"), _join([names.get(each, each) for each in key.Items] if key.Items is not None else None)),
        (gettext("Most of an item per request"), _format(key.MostPerRequest)),
        (gettext("Most of an item per day (UTC)"), _format(key.MostPerDay)),
        (gettext("Game servers"), _join(key.Servers)),
    )
    return [Fact(label, text) for label, text in given if text]


def _join(names: Sequence[str] | None) -> str:
    return "" if names is None else ", ".join(names) or gettext("none")


def _format(number: int | None) -> str:
    return "" if number is None else format_number(number)


DEMOTIONS = frozenset({"change_user_roles", "change_powers"})
SUSPENSION, BANS = "suspend_user", frozenset({"ban_user", "ban_player"})


class _WeakeningAnswer(Struct):
    """The part of an answer that names the weakened keys."""

    WeakenedKeys: list[WeakenedKey]


_decode_weakening = msgspec.json.Decoder(_WeakeningAnswer).decode


async def list_weakened_keys(request: Request, operation: str, tried: Response) -> list[Fact]:
    """List the keys that an operation weakens, from the answer to its dry run; other operations have none.

    The answer to a ban is fixed by the spec and names no keys, so they are read here, for callers with users.query.
    """
    if operation in DEMOTIONS or operation == SUSPENSION:
        return [
            _make_weakened_fact(each.Name, gettext("loses %(names)s", names=", ".join(each.Lost)))
            if operation in DEMOTIONS
            else _make_weakened_fact(each.Name, gettext("stops working"))
            for each in _decode_weakening(tried.content).WeakenedKeys
        ]
    if operation in BANS and "users.query" in request.caller.permissions:
        banned = {each.user_id for each in tried.entries if each.kind == UserBanned.kind and each.user_id}
        names = await request.services.keeper.store.read(lambda tx: _read_weakened_names(tx, banned))
        return [_make_weakened_fact(each, gettext("stops working")) for each in names]
    return []


async def _read_weakened_names(tx: Reading, user_ids: set[str]) -> list[str]:
    owners = await users.read_by_ids(tx, user_ids)
    return [each.key.name for owner in owners for each in await api_keys.find_keys_stopped_by_ban(tx, owner)]


def _make_weakened_fact(name: str, text: str) -> Fact:
    return Fact(gettext("API key %(name)s", name=name), text)


DIALOGS = (
    Dialog("create_key", "Create the API key %(new_name)s", secured=True),
    Dialog("rotate_key", "Rotate the API key %(name)s", secured=True),
    Dialog("change_key", "Suspend the API key %(name)s", secured=True, sent=("suspended", "true")),
    Dialog("change_key", "Let the API key %(name)s work again", secured=True, sent=("suspended", "false")),
    Dialog("change_key", "Change the API key %(name)s", secured=True),
    Dialog("revoke_key", "Revoke the API key %(name)s", secured=True),
)
PAGES = (
    page_route("/keys", show, KEYS)
    .in_menu("API keys", ADMINISTRATION, 30, "key")
    .with_help(
        "Credentials of programs: websites, bots and game servers. Each has its own permissions, limits and expiry.",
        "keys",
    ),
)
