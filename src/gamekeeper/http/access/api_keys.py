"""API keys for programs: create, list, look up, change, rotate and revoke them."""

from functools import partial
from typing import TypeVar

from msgspec import UNSET, UnsetType

from gamekeeper.game.access import api_keys
from gamekeeper.game.access import refusals as key_no
from gamekeeper.game.access.api_keys import IssuedKey, KeyDraft, KeyEdit
from gamekeeper.game.core import lookup
from gamekeeper.game.core import refusals as no
from gamekeeper.ground.instants import parse_instant
from gamekeeper.http.access import credential_shapes
from gamekeeper.http.contract import examples, shapes
from gamekeeper.http.contract.operation import KEYS, MANY, READ, Group
from gamekeeper.http.contract.path_parameters import declare_id, read_server
from gamekeeper.http.contract.records import make_record
from gamekeeper.http.server.request import Request
from gamekeeper.http.server.response import Response
from gamekeeper.store.access import api_keys as rows
from gamekeeper.store.access import roles as role_rows
from gamekeeper.store.access.api_keys import ApiKey, KeyLimits
from gamekeeper.store.accounts import users
from gamekeeper.store.engine.interface import Reading

T = TypeVar("T")
GROUP = Group("API keys", "Keys for programs such as shops, bots and game servers.", place=210, permissions=KEYS)
GROUPS = (GROUP,)
SHOWN_ONCE = "The secret of a key is shown once, in the first answer. If it was lost, rotate the key."
NOT_CREATED = "A dry run creates no key."
EDIT_REFUSALS = (key_no.KeyManagesNoKeys, key_no.KeyOutOfReach, key_no.KeyBeyondQuota, no.Outranked)


declare_id("keyId", "The API key's id.", examples.KEY_ID, "key_id")


@GROUP.operation(
    "GET /api/keeper/v1/keys",
    answer=credential_shapes.KeyList,
    rows=MANY,
    gated=True,
    refusals=(no.NoSuchUser,),
)
async def list_keys(request: Request, query: credential_shapes.KeysQuery) -> bytes:
    """List API keys, of all accounts or of `owner`, newest first, also revoked ones."""

    async def read() -> bytes:
        find = partial(_read_records, owner=query.owner or None)
        return shapes.encode(credential_shapes.KeyList(await request.services.keeper.store.read(find)))

    return await request.run_through_gate(read)


@GROUP.operation(
    "POST /api/keeper/v1/keys",
    answer=credential_shapes.IssuedKey,
    refusals=(
        *(no.BadField, key_no.UnknownPermission, key_no.UnknownRole, key_no.BadAddressRange, no.NoSuchUser),
        *EDIT_REFUSALS,
    ),
    example_body=credential_shapes.CreateKey(
        "web shop",
        Role="shop",
        Addresses=["192.0.2.0/24"],
        Items=[examples.COIN],
        MostPerRequest=500,
        MostPerDay=10_000,
    ),
)
async def create_key(request: Request, body: credential_shapes.CreateKey) -> Response:
    """Create an API key with permissions that the caller has. The answer shows its secret, once."""
    _refuse_keys(request)
    draft = KeyDraft(
        body.Name,
        body.Permissions or (),
        body.Role or None,
        parse_instant(body.ExpiresAt) if body.ExpiresAt else None,
        _read_limits(body),
        body.Replaces or None,
        body.Owner or None,
    )
    decide = partial(api_keys.create, draft=draft, actor=request.caller.actor)
    return await request.change(decide, partial(_make_issued, note=NOT_CREATED if request.dry_run else SHOWN_ONCE))


@GROUP.operation(
    "PUT /api/keeper/v1/keys/[keyId]",
    answer=credential_shapes.KeyRecord,
    refusals=(no.BadField, key_no.NoSuchKey, no.NoSuchUser, key_no.KeyRevoked, *EDIT_REFUSALS),
    example_body=credential_shapes.ChangeKey(Suspended=False),
)
async def change_key(request: Request, body: credential_shapes.ChangeKey, key_id: str) -> Response:
    """Rename an API key, give it another owner, suspend it, or let a suspended one work again."""
    _refuse_keys(request)
    wanted = KeyEdit(_get(body.Name), _get(body.Owner), _get(body.Suspended))
    decide = partial(api_keys.edit, key_id=key_id, wanted=wanted, actor=request.caller.actor)
    return await request.change(decide, _make_known, clear_callers=True)


@GROUP.operation(
    "POST /api/keeper/v1/keys/[keyId]/rotate",
    answer=credential_shapes.IssuedKey,
    refusals=(key_no.NoSuchKey, key_no.KeyRevoked, *EDIT_REFUSALS),
    example_body=credential_shapes.RotateKey(60),
)
async def rotate_key(request: Request, body: credential_shapes.RotateKey, key_id: str) -> Response:
    """Give an API key a new secret. The old one works for `GraceMinutes` more; id and limits stay."""
    _refuse_keys(request)
    decide = partial(api_keys.rotate, key_id=key_id, grace_minutes=body.GraceMinutes, actor=request.caller.actor)
    return await request.change(
        decide, partial(_make_issued, note=NOT_CREATED if request.dry_run else SHOWN_ONCE), clear_callers=True
    )


@GROUP.operation("DELETE /api/keeper/v1/keys/[keyId]", answer=credential_shapes.KeyRecord, refusals=(key_no.NoSuchKey,))
async def revoke_key(request: Request, key_id: str) -> Response:
    """Revoke an API key: at once in this process, within 5 seconds in others."""
    return await request.change(partial(api_keys.revoke, key_id=key_id), _make_known, clear_callers=True)


@GROUP.operation("POST /api/keeper/v1/keys/lookup", access=READ, refusals=(key_no.NoSuchKey,))
async def look_up_key(request: Request, body: credential_shapes.LookUpKey) -> credential_shapes.FoundKey:
    """Find the API key that a secret belongs to, such as a leaked one."""

    async def read(tx: Reading) -> credential_shapes.FoundKey:
        key, active = await api_keys.find_by_text(tx, body.Key)
        owner = await users.find_by_id(tx, key.user_id)
        record = _make_record(key, api_keys.find_held(key, owner, await role_rows.read_all(tx)))
        return make_record(credential_shapes.FoundKey, record, TextActive=active)

    return await request.services.keeper.store.read(read)


async def _read_records(tx: Reading, owner: str | None) -> list[credential_shapes.KeyRecord]:
    user_id = None if owner is None else (await lookup.find_user(tx, owner)).id
    keys, table = await rows.read_list(tx, user_id), await role_rows.read_all(tx)
    owners = {each.id: each for each in await users.read_by_ids(tx, {key.user_id for key in keys})}
    return [_make_record(key, api_keys.find_held(key, owners.get(key.user_id), table)) for key in keys]


def _make_record(key: ApiKey, held: frozenset[str]) -> credential_shapes.KeyRecord:
    return make_record(
        *(credential_shapes.KeyRecord, key, key.limits),
        OwnerId=key.user_id,
        Owner=key.user,
        Permissions=sorted(key.permissions),
        Effective=sorted(held),
        LastUsedAt=key.last_used,
        LastUsedFrom=key.last_address,
        Active=key.live,
    )


def _make_known(issued: IssuedKey) -> credential_shapes.KeyRecord:
    return _make_record(issued.key, issued.held)


def _make_issued(issued: IssuedKey, *, note: str) -> credential_shapes.IssuedKey:
    """Make the record of a key with its text. A dry run and the answer to a retry have a note instead."""
    text, record = None if note == NOT_CREATED else issued.text, _make_record(issued.key, issued.held)
    return make_record(credential_shapes.IssuedKey, record, Key=text, Note=None if text else note)


def _refuse_keys(request: Request) -> None:
    """Refuse API keys, whatever their permissions: one that leaked must not create another."""
    if request.caller.key is not None:
        raise key_no.KeyManagesNoKeys


def _read_limits(body: credential_shapes.CreateKey) -> KeyLimits:
    servers = _get(body.Servers)
    return KeyLimits(
        _read_list(body.Addresses),
        _get(body.PerMinute),
        _read_list(body.Items),
        _get(body.MostPerRequest),
        _get(body.MostPerDay),
        None if servers is None else tuple(read_server(each, "Servers") for each in servers),
    )


def _read_list(given: list[str] | UnsetType | None) -> tuple[str, ...] | None:
    return None if given is UNSET or given is None else tuple(given)


def _get(given: T | UnsetType | None) -> T | None:
    return None if given is UNSET else given
