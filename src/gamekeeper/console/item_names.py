"""Names of items and spells in forms. The forms take names or ids; the API takes ids."""

from collections.abc import Mapping

from gamekeeper.console import api_calls
from gamekeeper.console.api_calls import ApiCall
from gamekeeper.console.refusals import AmbiguousItem, AmbiguousSpell, UnknownItem, UnknownSpell
from gamekeeper.console.texts import gettext
from gamekeeper.game import catalogue, finder, lookup
from gamekeeper.game.refusals import BadField
from gamekeeper.http import dispatcher
from gamekeeper.http.request import Request
from gamekeeper.store.engine import Reading

FIELD = "items"  # of a new API key: a list
ITEMS, SPELLS = "items", "spells"
FIELDS = {"itemid": ITEMS, "spellid": SPELLS}  # field of a body in lower case → kind of its catalogue entry
# operations of players' items and spells, whose forms have these fields
NAMED = frozenset({"give_item", "take_item", "set_slot", "teach_spell"})
MOST_NAMES = 50  # each name is searched for on its own
MOST_SHOWN = 5  # ids or similar names in an error message


async def replace_names(request: Request, call: ApiCall) -> ApiCall:
    """Replace the names of items and spells in a call by their ids. Calls of other operations stay as they are."""
    route, _ = api_calls.find_operation(request, call.method, call.path)
    if call.body is None or route.name not in NAMED | {"create_key"}:
        return call
    dispatcher.require_permissions(request.caller, route)  # before the look-up, which reveals names
    if route.name == "create_key":
        return call._replace(body=await _replace_list(request, call.body))
    tx = request.services.keeper.store
    ids = {
        field: await find_id(tx, str(value), FIELDS[field.lower()])
        for field, value in call.body.items()
        if field.lower() in FIELDS
    }
    return call._replace(body={**call.body, **ids})


async def _replace_list(request: Request, body: Mapping[str, object]) -> Mapping[str, object]:
    """Replace the names of the items that a new API key may give."""
    field = next((name for name in body if name.lower() == FIELD), None)
    if field is None:
        return body
    given = body[field]
    items = [str(each) for each in given] if isinstance(given, list) else []  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType] - lines of a form
    if sum(lookup.parse_guid(each) is None for each in items) > MOST_NAMES:
        raise BadField(field=field, problem=gettext("has more than %(most)s names; use ids", most=MOST_NAMES))
    return {**body, field: [await find_id(request.services.keeper.store, each) for each in items]}


async def find_id(tx: Reading, text: str, kind: str = ITEMS) -> str:
    """Return the id of the item or spell with this name, in any case, or the id itself."""
    text = text.strip()
    if lookup.parse_guid(text) is not None:
        return text
    found = await catalogue.find_by_name(tx, kind, text, MOST_SHOWN)
    same = [each.id for each in found if lookup.fold(each.name) == lookup.fold(text)]
    if len(same) == 1:
        return same[0]
    if same:
        raise (AmbiguousItem if kind == ITEMS else AmbiguousSpell)(name=text, ids=", ".join(same))
    near = found or await finder.find_similar_entries(tx, kind, text, MOST_SHOWN)
    similar = gettext("Similar names: %(names)s.", names=", ".join(each.name for each in near)) if near else ""
    raise (UnknownItem if kind == ITEMS else UnknownSpell)(name=text, similar=similar)
