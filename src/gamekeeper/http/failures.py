"""Which refusals each row of the table can answer with, and how the document says so."""

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, get_args

import msgspec
from msgspec import Meta, Struct

from gamekeeper.game import mails as mail_rules
from gamekeeper.game import refusals as no
from gamekeeper.game.refusals import Refusal
from gamekeeper.http import (
    credentials,
    errors,
    feed,
    finder,
    gameobjects,
    history,
    items,
    link,
    mails,
    moderation,
    players,
    powers,
    samples,
    spells,
    tokens,
    users,
    variables,
    wire,
)
from gamekeeper.http.caller import POWERS
from gamekeeper.http.routes import WRITE, Route
from gamekeeper.http.schemas import Schema, Schemas

Kind = type[Refusal]
FEW = 3
DETAILS = {  # of the examples of refusals
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
    "fate": mail_rules.FATES["sent"],
    "allowed": "GET",
    "parameter": "playr",
    "hint": "Did you mean 'player'?",
}
PROBLEMS: Mapping[Kind, str] = {
    errors.MalformedBody: "The body is not valid JSON.",
    no.InvalidRequest: "The field 'grant_type' is missing.",
}
PARAMETERS: Mapping[str, Kind] = {
    "variableId": no.BadField,
    "bagId": no.BadField,
    "id": no.BadField,
    "server": no.BadField,
    "type": no.NoSuchObjectType,
    "objectId": no.BadField,
    "seq": no.NoSuchChange,
    "mailId": no.BadField,
    "kind": no.NoSuchKind,
    "username": no.NoSuchUser,
    "tokenId": no.NoSuchToken,
    "lookupKey1": no.NoSuchUser,
    "lookupKey2": no.NoSuchPlayer,
}
THEN: tuple[Kind, ...] = (no.NotThereThen, no.HistoryTrimmed, no.HistoryTooLong, no.TooManyLongReads)
RULES: Mapping[Callable[..., Any], tuple[Kind, ...]] = {
    variables.one: (no.NoSuchVariable,),
    variables.value: (no.NoSuchVariable,),
    variables.assign: (no.NoSuchVariable, no.WrongVariableType),
    items.in_bag: (no.NoSuchBag,),
    items.give: (no.NoSuchItem, no.InventoryFull),
    items.take: (no.NoSuchItem, no.NotEnoughItems, no.BagNotEmpty),
    spells.teach: (no.NoSuchSpell, no.SpellAlreadyKnown, no.NoFreeSpellSlot),
    spells.forget: (no.NoSuchSpell, no.SpellNotKnown),
    users.register: (no.ReservedName, no.UsernameTaken, no.EmailTaken, no.TooManyRegistrations),
    users.rename: (no.ReservedName, no.UsernameTaken),
    users.delete: (no.PlayerOnline, no.OwnAccount),
    users.by_name: (no.SearchNotReady, no.TooManyLongReads),
    players.by_name: (no.SearchNotReady, no.TooManyLongReads),
    players.online: (no.SearchNotReady, no.TooManyLongReads),
    players.rename: (no.ReservedName, no.NameTaken),
    players.set_class: (no.NoSuchClass,),
    players.delete: (no.PlayerOnline,),
    credentials.validate_password: (no.WrongPassword, no.TooManyGuesses),
    credentials.change_email: (no.WrongPassword, no.TooManyGuesses, no.EmailTaken),
    credentials.change_password: (no.WrongPassword, no.TooManyGuesses),
    credentials.request_reset: (no.TooManyMails,),
    credentials.redeem_code: (no.WrongCode,),
    credentials.manage_email: (no.EmailTaken,),
    moderation.ban: (no.Outranked, no.AlreadyBanned),
    moderation.unban: (no.Outranked,),
    moderation.mute: (no.Outranked, no.AlreadyMuted),
    moderation.unmute: (no.Outranked,),
    moderation.kick: (no.Outranked, no.UserNotOnline),
    powers.change: (no.Outranked, no.OwnPowers),
    mails.retry: (no.NoSuchMail, no.MailNotRetriable),
    tokens.log_in: (*no.LogInRefusal.__subclasses__(), no.BadPassword, no.TooManyGuesses),
    tokens.revoke_all: (no.RoleMissing,),
    tokens.revoke_one: (no.RoleMissing,),
    link.put_player: (
        *(no.MissingField, no.ReservedName, no.WrongVariableType),
        *(no.NoSuchPlayer, no.NoSuchUser, no.NoSuchItem, no.NoSuchBag, no.NoSuchSpell, no.NoSuchVariable),
        *(
            no.NameTaken,
            no.SlotOutOfRange,
            no.StackTooLarge,
            no.SpellAlreadyKnown,
            no.UnappliedChanges,
            no.ChangesTrimmed,
            no.CursorAhead,
        ),
    ),
    link.delete_player: (no.NoSuchPlayer, no.PlayerOnline),
    link.joined: (no.NoSuchServer, no.NoSuchPlayer),
    link.left: (no.NoSuchServer, no.NoSuchPlayer),
    link.shut: (no.NoSuchServer,),
    gameobjects.game_object: (no.NoSuchObject,),
    history.changes: (no.TooManyLongReads,),
    finder.find: (no.TooManyLongReads,),
    history.items: THEN,
    history.spells: THEN,
    history.variables: THEN,
    history.undone: (
        *(no.BadField, no.RoleMissing, no.PowerMissing, no.Outranked, no.OwnPowers, no.NoSuchUser),
        *(no.HistoryTrimmed, no.NotUndoable, no.AlreadyUndone, no.UndoConflict, no.ItemMovedOn),
        *(no.NameTaken, no.UsernameTaken, no.EmailTaken, no.PlayerOnline),
        *(no.AlreadyBanned, no.AlreadyMuted),
    ),
    feed.changes: (no.EpochChanged, no.ChangesTrimmed, no.CursorAhead),
}


def of(route: Route) -> dict[int, list[Kind]]:
    """By status, in the order of the statuses."""
    found: dict[int, list[Kind]] = {}
    for kind in [*_request(route), *_caller(route), *_key(route), *RULES.get(route.handler, ()), *_ours(route)]:
        kinds = found.setdefault(errors.status(kind, route.path), [])
        if kind not in kinds:
            kinds.append(kind)
    return dict(sorted(found.items()))


def takes_key(route: Route) -> bool:
    """Whether it may carry an Idempotency-Key, a reason and dryRun: every write but the log-in."""
    return route.does is WRITE and route.needs is not None


def responses(route: Route, schemas: Schemas, shared: dict[str, Schema]) -> dict[str, Schema]:
    """What many rows refuse alike is said once."""
    found: dict[str, Schema] = {}
    for status, kinds in of(route).items():
        refused = _refused(kinds, route, schemas)
        name = "-".join(_code(kind) for kind in kinds)
        if len(kinds) <= FEW and shared.setdefault(name, refused) == refused:
            refused = {"$ref": f"#/components/responses/{name}"}
        found[str(status)] = refused
    return found


def headers(names: Iterable[str]) -> Schema:
    return {name: {"$ref": f"#/components/headers/{name}"} for name in names}


def _request(route: Route) -> Iterator[Kind]:
    yield no.RepeatedField  # in the query, which is read on every row
    if route.is_ours:
        yield errors.UnknownParameter
    if route.asks or takes_key(route):
        yield no.BadField
    if route.takes is None:
        return
    yield from (errors.MalformedBody, no.BadField, errors.BodyTooLarge, errors.BodyTooSlow, errors.UnsupportedMediaType)
    if route.over_link:
        yield errors.UnknownField
        yield no.TooManyLongReads
    fields = msgspec.structs.fields(route.takes) if issubclass(route.takes, Struct) else ()
    if any(each.required for each in fields) or not fields:
        yield no.MissingField
    if any(_is_password(each.type) for each in fields):
        yield no.BadPassword


def _is_password(kind: object) -> bool:
    return any(isinstance(each, Meta) and (each.extra or {}).get("is") == "password" for each in get_args(kind))


def _caller(route: Route) -> Iterator[Kind]:
    if route.needs is None:
        return
    yield no.Denied
    if route.needs and route.needs & POWERS:
        yield no.PowerMissing
    if route.needs and route.needs - POWERS:
        yield no.RoleMissing
    if route.does is WRITE:
        yield no.ReadOnlyToken


def _key(route: Route) -> Iterator[Kind]:
    for name in route.parameters:
        yield PARAMETERS.get(name) or _looked_up(route)
        yield errors.NoSuchRoute
    if takes_key(route):
        yield from (no.IdempotencyKeyReused, no.IdempotencyInProgress, no.AnswerErased)


def _looked_up(route: Route) -> Kind:
    return no.NoSuchUser if "/users/" in route.path else no.NoSuchPlayer


def _ours(route: Route) -> Iterator[Kind]:
    yield errors.InternalError
    if isinstance(route.gives, str):
        return  # a page: no database, no queue
    yield from (no.Overloaded, errors.DatabaseAway, errors.OutcomeUnknown)


def _refused(kinds: Sequence[Kind], route: Route, schemas: Schemas) -> Schema:
    shapes: dict[type[wire.Error], list[Kind]] = {}
    for kind in kinds:
        shapes.setdefault(_shape(kind, route), []).append(kind)
    described = [
        {"allOf": [schemas.given(shape), {"properties": wire.error_code([_code(each) for each in some])}]}
        for shape, some in shapes.items()
    ]
    examples = {_code(each): {"value": _example(each, route)} for each in kinds}
    schema = described[0] if len(described) == 1 else {"anyOf": described}
    return {
        "description": " · ".join(f"`{code}`" for code in examples),
        "headers": headers(["X-Request-Id", *_sent_with(kinds)]),
        "content": {"application/json": {"schema": schema, "examples": examples}},
    }


def _sent_with(kinds: Sequence[Kind]) -> list[str]:
    if no.Denied in kinds:
        return ["WWW-Authenticate"]
    waits = any(each.retry_after is not None or issubclass(each, no.TooManyRequests) for each in kinds)
    return ["Retry-After"] if waits else []


def _shape(kind: Kind, route: Route) -> type[wire.Error]:
    if route.handler is tokens.log_in and issubclass(kind, no.Malformed | no.LogInRefusal):
        return wire.LogInError
    return wire.UnappliedError if kind is no.UnappliedChanges else wire.Error


def _code(kind: Kind) -> str:
    return kind.__new__(kind).code


def _example(kind: Kind, route: Route) -> Any:  # noqa: ANN401 - JSON
    needs = route.needs or frozenset[str]()
    role, power = min(needs - POWERS, default="users.manage"), min(needs & POWERS, default="").title()
    details = DETAILS | {"role": role, "power": power}
    details |= {"problem": PROBLEMS[kind]} if kind in PROBLEMS else {}
    message = inspect.cleandoc(kind.__doc__ or "").format_map(details)
    plain = wire.Error(Message=message, Code=_code(kind), RequestId=samples.REQUEST_ID)
    shape = _shape(kind, route)
    if shape is wire.UnappliedError:
        return msgspec.json.decode(wire.unapplied_error([samples.CHANGE], plain))
    if shape is wire.LogInError:
        known = (kind.error or _code(kind)) if issubclass(kind, no.LogInRefusal) else _code(no.InvalidRequest)
        return msgspec.json.decode(wire.log_in_error(known, plain))
    return msgspec.to_builtins(plain)
