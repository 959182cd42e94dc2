"""List the refusals of each operation, and describe them for the OpenAPI document."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, get_args

import msgspec
from msgspec import Meta, Struct

from gamekeeper.game.access import tokens
from gamekeeper.game.access.permissions import NO_PERMISSION
from gamekeeper.game.access.refusals import (
    AddressNotAllowed,
    KeyFileUnusable,
    MfaRequired,
    OwnRole,
    PermissionMissing,
    TooManyKeyRequests,
)
from gamekeeper.game.access.roles import GIVE, describe_own_role
from gamekeeper.game.accounts import mails as mail_rules
from gamekeeper.game.audit.approvals import HOLDABLE
from gamekeeper.game.audit.refusals import (
    ApprovalDenied,
    ApprovalExpired,
    ApprovalRequired,
    NobodyCanDecide,
    TooManyWaitingApprovals,
)
from gamekeeper.game.core import refusals as no
from gamekeeper.game.core.refusals import Refusal
from gamekeeper.http.contract import examples, shapes
from gamekeeper.http.contract.examples import make_example
from gamekeeper.http.contract.operation import WRITE, Operation
from gamekeeper.http.contract.path_parameters import find_parameter
from gamekeeper.http.contract.schemas import Schema
from gamekeeper.http.contract.shapes import list_together
from gamekeeper.http.server import errors
from gamekeeper.http.server.caller import CANNOT_WRITE, POWERS, ROLES, name_power
from gamekeeper.http.server.request import is_encoded_whole

RefusalType = type[Refusal]
EXAMPLE_VALUES = {
    "board": examples.BOARD,
    "season": 1,
    "seasons": 500,  # values for the placeholders in the example messages of refusals
    "field": "quantity",
    "problem": "must be a whole number from 1 to 2147483647",
    "by": "name",
    "key": "Nobody",
    "name": "Nobody",
    "email": "marlow@example.org",
    "advice": "",
    "id": examples.TOKEN_ID,
    "kind": "pets",
    "held": 3,
    "container": "pocket",
    "wanted": 10,
    "room": 4,
    "slot": 99,
    "place": "inventory",
    "size": 35,
    "most": 20,
    "item": examples.DRAUGHT,
    "seconds": 240,
    "variable": examples.DRAGONS,
    "type": "Integer",
    "received": "String",
    "trimmed": 41,
    "last": 4711,
    "epoch": examples.EPOCH,
    "limit": 65_536,
    "seq": 4711,
    "why": "slot 17 of the inventory holds something else by now",
    "trade": "Marlow gained the same item by change 4713",
    "minutes": 10,
    "fate": mail_rules.WHY_NOT_RETRIABLE["sent"],
    "allowed": "GET",
    "act": "delete",
    "command": "delete",
    "known": "admin, api, moderator",
    "parameter": "playr",
    "given": 18,
    "range": "192.0.2.0/33",
    "address": "192.0.2.7",
    "server": examples.REALM,
    "player": examples.PLAYER_ID,
    "approval": examples.MAIL_ID,
    "state": "denied",
    "hint": "Did you mean 'player'?",
}
# permissions of operations whose changes a rule can hold: those of the rules, and those that include one
HOLDABLE_BY = frozenset({*HOLDABLE, "audit.undo", "users.manage"})
# permissions of operations that can change who decides on approvals
GUARDED_BY = frozenset({"staff.manage", "users.manage", "moderation.ban", "audit.undo"})
EXAMPLE_PROBLEMS: Mapping[RefusalType, str] = {
    errors.MalformedBody: "The body is not valid JSON.",
    MfaRequired: tokens.CODE_MISSING,
    no.InvalidRequest: "The field 'grant_type' is missing.",
    no.Outranked: NO_PERMISSION,
    no.ReadOnlyToken: CANNOT_WRITE,
    OwnRole: describe_own_role(GIVE, "admin"),
}


def list_refusals(operation: Operation) -> dict[int, list[RefusalType]]:
    """List an operation's refusals by status, in ascending order."""
    found: dict[int, list[RefusalType]] = {}
    for kind in [
        *_list_request_refusals(operation),
        *_list_caller_refusals(operation),
        *_list_key_refusals(operation),
        *operation.refusals,
        *_list_server_errors(operation),
    ]:
        kinds = found.setdefault(errors.find_status(kind, operation.path), [])
        if kind not in kinds:
            kinds.append(kind)
    return dict(sorted(found.items()))


def refer_to_headers(names: Iterable[str]) -> Schema:
    return {name: {"$ref": f"#/components/headers/{name}"} for name in names}


def make_examples(kinds: Sequence[RefusalType], operation: Operation) -> dict[str, Schema]:
    """Return an example of each refusal: code → example."""
    return {get_code(each): {"value": _make_example(each, operation)} for each in kinds}


def describe_response(kinds: Sequence[RefusalType], schema: Schema, examples: Schema) -> Schema:
    """Describe the error response of one status in OpenAPI, for all refusals with this status."""
    return {
        "description": " · ".join(f"`{code}`" for code in examples),
        "headers": refer_to_headers(["X-Request-Id", *_list_header_names(kinds)]),
        "content": {"application/json": {"schema": schema, "examples": examples}},
    }


def find_shape(kind: RefusalType, operation: Operation) -> type[shapes.Error]:
    if operation.path == errors.LOG_IN and issubclass(kind, no.Malformed | no.LogInRefusal):
        return shapes.LogInError
    return errors.FURTHER_FIELDS[kind].shape if kind in errors.FURTHER_FIELDS else shapes.Error


def get_code(kind: RefusalType) -> str:
    return kind.__new__(kind).code


def _list_request_refusals(operation: Operation) -> Iterator[RefusalType]:
    yield no.RepeatedField  # refusal of a repeated query parameter: every operation parses the query
    if operation.is_own_api:
        yield errors.UnknownParameter
    if operation.query or operation.is_repeatable:
        yield no.BadField
    if operation.body is None:
        return
    yield from (errors.MalformedBody, no.BadField, errors.BodyTooLarge, errors.BodyTooSlow, errors.UnsupportedMediaType)
    if operation.is_own_api:
        yield errors.UnknownField
    if operation.over_link:
        yield no.TooManyLongReads
    if operation.body is bytes or _can_miss_field(operation.body):
        yield no.MissingField
    fields = msgspec.structs.fields(operation.body) if issubclass(operation.body, Struct) else ()
    if any(_is_password(each.type) for each in fields):
        yield no.BadPassword


def _can_miss_field(kind: object) -> bool:
    """Tell whether a body of this type can lack a required field, also in an object within it."""
    if isinstance(kind, type) and issubclass(kind, Struct):
        fields = msgspec.structs.fields(kind)
        return bool(list_together(kind)) or any(each.required or _can_miss_field(each.type) for each in fields)
    return any(_can_miss_field(each) for each in get_args(kind))


def _is_password(kind: object) -> bool:
    return any(isinstance(each, Meta) and (each.extra or {}).get("is") == "password" for each in get_args(kind))


def _list_caller_refusals(operation: Operation) -> Iterator[RefusalType]:
    if operation.permissions is None:
        return
    yield from (no.Denied, AddressNotAllowed, TooManyKeyRequests)
    if operation.permissions and operation.permissions & POWERS:
        yield no.PowerMissing
    if operation.permissions and operation.permissions & ROLES:
        yield no.RoleMissing
    if operation.permissions and operation.permissions - POWERS - ROLES:
        yield PermissionMissing
    if operation.access is WRITE:
        yield no.ReadOnlyToken


def _list_key_refusals(operation: Operation) -> Iterator[RefusalType]:
    for name in operation.parameters:
        yield find_parameter(name, operation.path).refusal
        yield errors.NoSuchRoute
    if operation.is_repeatable:
        yield from (no.IdempotencyKeyReused, no.IdempotencyInProgress, no.AnswerErased)
    if can_be_held(operation):
        yield from (ApprovalDenied, ApprovalExpired, TooManyWaitingApprovals)
        if not is_accepted_when_held(operation):
            yield ApprovalRequired
    if can_be_guarded(operation):
        yield NobodyCanDecide
        if operation.body is not None and not is_encoded_whole(operation.body):
            yield KeyFileUnusable  # the body is stored encrypted while the change waits


def can_be_held(operation: Operation) -> bool:
    """Tell whether a rule can hold changes of an operation for approval."""
    needed = operation.permissions or frozenset[str]()
    return operation.is_repeatable and not operation.over_link and bool(needed & HOLDABLE_BY)


def can_be_guarded(operation: Operation) -> bool:
    """Tell whether an operation can change who decides on approvals."""
    return can_be_held(operation) and bool((operation.permissions or frozenset[str]()) & GUARDED_BY)


def is_accepted_when_held(operation: Operation) -> bool:
    """Tell whether a held change is answered with 202. Under /api/v1 it is refused: clients take any 2xx for done."""
    return can_be_held(operation) and not operation.path.startswith(errors.SPEC_ROOT)


def _list_server_errors(operation: Operation) -> Iterator[RefusalType]:
    yield errors.InternalError
    if isinstance(operation.answer, str):
        return  # a static page does not use the database, so it has no database errors
    yield from (no.Overloaded, errors.DatabaseAway, errors.OutcomeUnknown)


def _list_header_names(kinds: Sequence[RefusalType]) -> list[str]:
    if no.Denied in kinds:
        return ["WWW-Authenticate"]
    waits = any(each.retry_after is not None or issubclass(each, no.TooManyRequests) for each in kinds)
    return ["Retry-After"] if waits else []


def _make_example(kind: RefusalType, operation: Operation) -> Any:  # noqa: ANN401 - JSON
    needs = operation.permissions or frozenset[str]()
    role, power = min(needs & ROLES, default="users.manage"), name_power(min(needs & POWERS, default=""))
    permission = min(needs - POWERS - ROLES, default="items.take")
    types = "application/json or application/x-www-form-urlencoded" if operation.takes_forms else "application/json"
    details = EXAMPLE_VALUES | {"role": role, "power": power, "permission": permission, "types": types}
    details |= {"problem": EXAMPLE_PROBLEMS[kind]} if kind in EXAMPLE_PROBLEMS else {}
    message = kind.template().format_map(details)
    plain = shapes.Error(Message=message, Code=get_code(kind), RequestId=examples.REQUEST_ID)
    shape = find_shape(kind, operation)
    if further := errors.FURTHER_FIELDS.get(kind):
        return msgspec.json.decode(shapes.encode(make_example(further.shape))) | msgspec.to_builtins(plain)
    if shape is shapes.LogInError:
        known = (kind.error or get_code(kind)) if issubclass(kind, no.LogInRefusal) else get_code(no.InvalidRequest)
        return msgspec.json.decode(shapes.encode_log_in_error(known, plain))
    return msgspec.to_builtins(plain)
