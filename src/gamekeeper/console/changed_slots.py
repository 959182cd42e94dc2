"""The refusal of a change of a slot that somebody else changed meanwhile, in words: what the slot holds now."""

from gamekeeper.console import api_calls, differences
from gamekeeper.console.api_calls import ApiCall
from gamekeeper.console.differences import TIMES_SIGN, Names
from gamekeeper.console.formats import format_number
from gamekeeper.console.menu import PLAYERS
from gamekeeper.console.texts import gettext
from gamekeeper.game import lookup
from gamekeeper.game.inventory import BANK, INVENTORY, SlotAddress
from gamekeeper.game.slot_refusals import SlotChanged
from gamekeeper.http.request import Request
from gamekeeper.store import catalogue, items
from gamekeeper.store.engine import Reading


async def explain(request: Request, call: ApiCall, refusal: SlotChanged) -> SlotChanged:
    """Replace the message of the API, which is for programs. The content is named to callers who may see items."""
    sent = {name.lower(): str(value) for name, value in (call.body or {}).items()}
    container = sent.get("container", INVENTORY)  # the forms that equip an item name no container
    place = container if container in (INVENTORY, BANK) else lookup.parse_guid(container) or container
    spot = place, int(sent["slot"])
    _, params = api_calls.find_operation(request, call.method, call.path)
    content = ""
    if request.caller.permissions >= PLAYERS:
        content = await request.services.keeper.store.read(lambda tx: _describe_content(tx, params[0], spot))
    refusal.message = gettext(
        "%(slot)s was changed after you opened the page. %(content)s Nothing was changed. Go back, look at the slot "
        "and start again.",
        slot=differences.name_spot(spot, Names({})),
        content=content,
    ).replace("  ", " ")
    return refusal


async def _describe_content(tx: Reading, key: str, spot: SlotAddress) -> str:
    place, slot = spot
    player_id = await lookup.find_player_id(tx, key)
    held = next((each for each in await items.read_slots_of_place(tx, player_id, place) if each.slot == slot), None)
    if held is None:
        return gettext("It is empty now.")
    names = await catalogue.find_by_ids(tx, "items", [held.item_id])
    name = Names({"items": names}).find_name("items", held.item_id)
    return gettext("It holds %(items)s now.", items=f"{format_number(held.quantity)} {TIMES_SIGN} {name}")
