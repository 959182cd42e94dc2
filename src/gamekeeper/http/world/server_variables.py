"""Variables of the server, at the paths of the engine's released versions (`global`) and of its newest one."""

from collections.abc import Callable
from functools import partial

from gamekeeper.game.core.refusals import WrongValueType
from gamekeeper.game.core.values import decode_value
from gamekeeper.game.world import catalogue
from gamekeeper.game.world.catalogue import IdRefusals
from gamekeeper.game.world.refusals import (
    InvalidGlobalVariable,
    InvalidServerVariable,
    NoSuchGlobalVariable,
    NoSuchServerVariable,
)
from gamekeeper.http.contract import shapes
from gamekeeper.http.contract.operation import READ, READ_PLAYERS, REVALIDATED, Group, H, needs
from gamekeeper.http.contract.records import make_record
from gamekeeper.http.players import variables
from gamekeeper.http.players.variable_shapes import (
    AnyValueOnly,
    ChangedServerVariable,
    HeadValueOnly,
    ServerVariable,
    SetAnyVariable,
)
from gamekeeper.http.server import paging
from gamekeeper.http.server.paging import PageRange
from gamekeeper.http.server.request import Request
from gamekeeper.http.server.response import Response
from gamekeeper.http.world import documents
from gamekeeper.store.world.catalogue import CatalogueServerVariable

GROUP = Group(
    "Server variables", "Variables of the server itself, which the game declares.", 40, READ_PLAYERS, REVALIDATED
)
GROUPS = (GROUP,)
NEWEST, GLOBAL = "/api/v1/variables", "/api/v1/variables/global"
REFUSALS = {
    NEWEST: IdRefusals(InvalidServerVariable, NoSuchServerVariable),
    GLOBAL: IdRefusals(InvalidGlobalVariable, NoSuchGlobalVariable),
}


@GROUP.operation(f"GET {NEWEST}", answer=shapes.Paged[ServerVariable], rows=shapes.MAX_ENGINE_RECORDS)
async def list_server_variables(request: Request, query: shapes.VariableQuery) -> bytes:
    """List the variables of the server by id, in pages."""
    page = paging.read_engine_query(query)
    total, records = await _load_page(request, page)
    return shapes.encode_paged(total, page.number, page.size, records)


@GROUP.operation(f"POST {GLOBAL}", access=READ, answer=shapes.Legacy[ServerVariable])
async def list_server_variables_legacy(request: Request, body: shapes.LegacyPage) -> bytes:
    """List the variables of the server by id, in the legacy format."""
    return await _list_legacy(request, paging.read_legacy(request, body))


@GROUP.operation(f"GET {GLOBAL}", answer=shapes.Legacy[ServerVariable])
async def list_global_variables(request: Request, query: shapes.LegacyQuery) -> bytes:
    """List the variables of the server like `POST`, for clients that fall back to `GET`."""
    wanted = shapes.LegacyPage(query.page, query.count)
    return await _list_legacy(request, paging.read_body(wanted, request.services.keeper.settings.max_page_size))


@GROUP.operation(
    f"GET {NEWEST}/[serverVariableId]", name="get_server_variable", answer=ServerVariable, refusals=REFUSALS[NEWEST]
)
@GROUP.operation(
    f"GET {GLOBAL}/[serverVariableId]", name="get_global_variable", answer=ServerVariable, refusals=REFUSALS[GLOBAL]
)
async def get_variable(request: Request, variable_id: str) -> bytes:
    """Get a variable of the server. Its value is null until it is set for the first time."""
    return shapes.encode(documents.make_server_variable(await _find(request, variable_id)))


@GROUP.operation(f"GET {NEWEST}/[serverVariableId]/value", refusals=REFUSALS[NEWEST])
async def get_server_variable_value(request: Request, variable_id: str) -> HeadValueOnly:
    """Get only the value of a variable of the server, as `Value`."""
    return HeadValueOnly(decode_value((await _find(request, variable_id)).value))


@GROUP.operation(f"GET {GLOBAL}/[serverVariableId]/value", refusals=REFUSALS[GLOBAL])
async def get_global_variable_value(request: Request, variable_id: str) -> AnyValueOnly:
    """Get only the value of a variable of the server, as `value`."""
    return AnyValueOnly(decode_value((await _find(request, variable_id)).value))


def _declare_set(root: str, name: str) -> Callable[[H], H]:
    return GROUP.operation(
        f"POST {root}/[serverVariableId]",
        name=name,
        permissions=needs("world.write"),
        answer=ChangedServerVariable,
        refusals=(*REFUSALS[root], WrongValueType),
    )


@_declare_set(NEWEST, "set_server_variable")
@_declare_set(GLOBAL, "set_global_variable")
async def set_variable(request: Request, body: SetAnyVariable, variable_id: str) -> Response:
    """Set a variable of the server. All game servers are told in the change feed."""
    decide = partial(catalogue.set_server_variable, variable_id=variable_id, sent=body.value)
    chosen = partial(decide, refusals=_find_refusals(request), from_form=variables.is_form(request))
    return await request.change(chosen, _make_changed)


async def _load_page(request: Request, page: PageRange) -> tuple[int, list[bytes]]:
    load = partial(catalogue.load_server_variables, limit=page.limit, offset=page.offset)
    total, found = await request.services.keeper.store.read(load)
    return total, [shapes.encode(documents.make_server_variable(each)) for each in found]


async def _list_legacy(request: Request, page: PageRange) -> bytes:
    total, records = await _load_page(request, page)
    return shapes.encode_legacy(total, page.number, records)


async def _find(request: Request, variable_id: str) -> CatalogueServerVariable:
    return await catalogue.require_server_variable(request.services.keeper.store, variable_id, _find_refusals(request))


def _find_refusals(request: Request) -> IdRefusals:
    return REFUSALS[GLOBAL if request.route.path.startswith(GLOBAL) else NEWEST]


def _make_changed(each: CatalogueServerVariable) -> ChangedServerVariable:
    return make_record(ChangedServerVariable, documents.make_server_variable(each), VariableId=each.id)
