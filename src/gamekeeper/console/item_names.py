"""Names of items in the form of a new API key. The form takes names or ids; the API takes ids."""

from gamekeeper.console import api_calls
from gamekeeper.console.api_calls import ApiCall
from gamekeeper.console.refusals import AmbiguousItem, UnknownItem
from gamekeeper.console.texts import gettext
from gamekeeper.game import catalogue, finder, lookup
from gamekeeper.game.refusals import BadField
from gamekeeper.http import dispatcher
from gamekeeper.http.request import Request
from gamekeeper.store.engine import Reading

FIELD = "items"
MOST_NAMES = 50  # each name is searched for on its own
MOST_SHOWN = 5  # ids or similar names in an error message


async def replace_names(request: Request, call: ApiCall) -> ApiCall:
    """Replace the names of items in the call that creates an API key by their ids; leave every other call as it is."""
    route, _ = api_calls.find_operation(request, call.method, call.path)
    field = next((name for name in call.body or {} if name.lower() == FIELD), None)
    if route.name != "create_key" or field is None or call.body is None:
        return call
    dispatcher.require_permissions(request.caller, route)  # before the look-up, which reveals names
    given = call.body[field]
    items = [str(each) for each in given] if isinstance(given, list) else []  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType] - lines of a form
    if sum(lookup.parse_guid(each) is None for each in items) > MOST_NAMES:
        raise BadField(field=field, problem=gettext("has more than %(most)s names; use ids", most=MOST_NAMES))
    ids = [await find_id(request.services.keeper.store, each) for each in items]
    return call._replace(body={**call.body, field: ids})


async def find_id(tx: Reading, text: str) -> str:
    """Return the id of the item with this name, in any case, or the id itself."""
    if lookup.parse_guid(text) is not None:
        return text
    found = await catalogue.find_by_name(tx, "items", text, MOST_SHOWN)
    same = [each.id for each in found if lookup.fold(each.name) == lookup.fold(text)]
    if len(same) == 1:
        return same[0]
    if same:
        raise AmbiguousItem(name=text, ids=", ".join(same))
    near = found or await finder.find_similar_entries(tx, "items", text, MOST_SHOWN)
    similar = gettext("Similar names: %(names)s.", names=", ".join(each.name for each in near)) if near else ""
    raise UnknownItem(name=text, similar=similar)
