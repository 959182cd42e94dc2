"""List the refusals of each operation, and describe them for the OpenAPI document."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, get_args

import msgspec
from msgspec import Meta, Struct

from gamekeeper.game import mails as mail_rules
from gamekeeper.game import refusals as no
from gamekeeper.game.refusals import Refusal
from gamekeeper.http import errors, samples, wire
from gamekeeper.http.caller import POWERS
from gamekeeper.http.operation import WRITE, Operation
from gamekeeper.http.path_parameters import find_parameter
from gamekeeper.http.schemas import Schema

Kind = type[Refusal]
DETAILS = {  # values for the placeholders in the example messages
    "field": "quantity",
    "problem": "must be a whole number from 1 to 2147483647",
    "by": "name",
    "key": "Nobody",
    "name": "Nobody",
    "email": "marlow@example.org",
    "id": samples.TOKEN_ID,
    "kind": "pets",
    "held": 3,
    "wanted": 10,
    "slot": 99,
    "place": "inventory",
    "size": 35,
    "most": 20,
    "item": samples.DRAUGHT,
    "seconds": 240,
    "variable": samples.DRAGONS,
    "type": "Integer",
    "trimmed": 41,
    "last": 4711,
    "epoch": samples.EPOCH,
    "limit": 65_536,
    "seq": 4711,
    "why": "slot 17 of the inventory holds something else by now",
    "trade": "Marlow gained the same item by change 4713",
    "minutes": 10,
    "fate": mail_rules.WHY_NOT_RETRIABLE["sent"],
    "allowed": "GET",
    "act": "delete",
    "parameter": "playr",
    "hint": "Did you mean 'player'?",
}
PROBLEMS: Mapping[Kind, str] = {
    errors.MalformedBody: "The body is not valid JSON.",
    no.InvalidRequest: "The field 'grant_type' is missing.",
}


def of(operation: Operation) -> dict[int, list[Kind]]:
    """List an operation's refusals by status, in ascending order."""
    found: dict[int, list[Kind]] = {}
    for kind in [*_request(operation), *_caller(operation), *_key(operation), *operation.refusals, *_ours(operation)]:
        kinds = found.setdefault(errors.find_status(kind, operation.path), [])
        if kind not in kinds:
            kinds.append(kind)
    return dict(sorted(found.items()))


def headers(names: Iterable[str]) -> Schema:
    return {name: {"$ref": f"#/components/headers/{name}"} for name in names}


def show_examples(kinds: Sequence[Kind], operation: Operation) -> dict[str, Schema]:
    """Return an example of each refusal: code → example."""
    return {code_of(each): {"value": _example(each, operation)} for each in kinds}


def describe_response(kinds: Sequence[Kind], schema: Schema, examples: Schema) -> Schema:
    """Describe the response of one status, for the refusals with this status."""
    return {
        "description": " · ".join(f"`{code}`" for code in examples),
        "headers": headers(["X-Request-Id", *_sent_with(kinds)]),
        "content": {"application/json": {"schema": schema, "examples": examples}},
    }


def shape_of(kind: Kind, operation: Operation) -> type[wire.errors.Error]:
    if operation.path == errors.LOG_IN and issubclass(kind, no.Malformed | no.LogInRefusal):
        return wire.errors.LogInError
    return wire.feed.UnappliedError if kind is no.UnappliedChanges else wire.errors.Error


def code_of(kind: Kind) -> str:
    return kind.__new__(kind).code


def _request(operation: Operation) -> Iterator[Kind]:
    yield no.RepeatedField  # of the query, which every operation parses
    if operation.is_ours:
        yield errors.UnknownParameter
    if operation.query or operation.is_repeatable:
        yield no.BadField
    if operation.body is None:
        return
    yield from (errors.MalformedBody, no.BadField, errors.BodyTooLarge, errors.BodyTooSlow, errors.UnsupportedMediaType)
    if operation.is_ours:
        yield errors.UnknownField
    if operation.over_link:
        yield no.TooManyLongReads
    fields = msgspec.structs.fields(operation.body) if issubclass(operation.body, Struct) else ()
    if any(each.required for each in fields) or not fields:
        yield no.MissingField
    if any(_is_password(each.type) for each in fields):
        yield no.BadPassword


def _is_password(kind: object) -> bool:
    return any(isinstance(each, Meta) and (each.extra or {}).get("is") == "password" for each in get_args(kind))


def _caller(operation: Operation) -> Iterator[Kind]:
    if operation.permissions is None:
        return
    yield no.Denied
    if operation.permissions and operation.permissions & POWERS:
        yield no.PowerMissing
    if operation.permissions and operation.permissions - POWERS:
        yield no.RoleMissing
    if operation.access is WRITE:
        yield no.ReadOnlyToken


def _key(operation: Operation) -> Iterator[Kind]:
    for name in operation.parameters:
        yield find_parameter(name, operation.path).refusal
        yield errors.NoSuchRoute
    if operation.is_repeatable:
        yield from (no.IdempotencyKeyReused, no.IdempotencyInProgress, no.AnswerErased)


def _ours(operation: Operation) -> Iterator[Kind]:
    yield errors.InternalError
    if isinstance(operation.answer, str):
        return  # a static page, without the database
    yield from (no.Overloaded, errors.DatabaseAway, errors.OutcomeUnknown)


def _sent_with(kinds: Sequence[Kind]) -> list[str]:
    if no.Denied in kinds:
        return ["WWW-Authenticate"]
    waits = any(each.retry_after is not None or issubclass(each, no.TooManyRequests) for each in kinds)
    return ["Retry-After"] if waits else []


def _example(kind: Kind, operation: Operation) -> Any:  # noqa: ANN401 - JSON
    needs = operation.permissions or frozenset[str]()
    role, power = min(needs - POWERS, default="users.manage"), min(needs & POWERS, default="").title()
    types = "application/json" if operation.over_link else "application/json or application/x-www-form-urlencoded"
    details = DETAILS | {"role": role, "power": power, "types": types}
    details |= {"problem": PROBLEMS[kind]} if kind in PROBLEMS else {}
    message = kind.template().format_map(details)
    plain = wire.errors.Error(Message=message, Code=code_of(kind), RequestId=samples.REQUEST_ID)
    shape = shape_of(kind, operation)
    if shape is wire.feed.UnappliedError:
        return msgspec.json.decode(wire.feed.unapplied_error([samples.CHANGE], plain))
    if shape is wire.errors.LogInError:
        known = (kind.error or code_of(kind)) if issubclass(kind, no.LogInRefusal) else code_of(no.InvalidRequest)
        return msgspec.json.decode(wire.errors.log_in_error(known, plain))
    return msgspec.to_builtins(plain)
