"""Characters: what there is to ask about them, and to change."""

from typing import Literal, TypedDict, Unpack

from gamekeeper_client.call import Batch, Call, WriteOptions, every_page, get, path, post, query, reading, then, write
from gamekeeper_client.shapes import (
    Given,
    Items,
    KnownSpell,
    LegacyPage,
    NamedBag,
    NamedSlot,
    OnlineCount,
    Page,
    Player,
    Rank,
    SpellId,
    Taken,
    Value,
    Variable,
)

Direction = Literal["Ascending", "Descending"]
PLAYERS, RANK, ONLINE = "/api/v1/players", "/api/v1/players/rank", "/api/v1/players/online"
LARGEST_PAGE = 100

_page, _legacy = reading(Page[Player]), reading(LegacyPage[Player])
_slots = reading(list[NamedSlot])


class PlayersAsked(TypedDict, total=False):
    """Which characters, and in what order: those with `search` in their names; of so many matches a thousand."""

    search: str
    sort_by: Literal["name", "level"]
    sort_direction: Direction


def players(*, page_size: int = LARGEST_PAGE, **asked: Unpack[PlayersAsked]) -> Call[Batch[Player]]:
    """Every character, by name, fetched a page at a time; or those that a search finds, or by level."""
    return every_page(lambda page: players_page(page, page_size=page_size, **asked))


def players_page(
    page: int = 0, *, page_size: int | None = None, limit: int | None = None, **asked: Unpack[PlayersAsked]
) -> Call[Page[Player]]:
    return get(PLAYERS, _page, query(page=page, pageSize=page_size, limit=limit, **listed(**asked)))


def rank(*, sort_direction: Direction = "Descending", page_size: int = LARGEST_PAGE) -> Call[Batch[Player]]:
    """Every character, by level and experience, fetched a page at a time."""
    return every_page(lambda page: rank_page(page, sort_direction=sort_direction, page_size=page_size))


def rank_page(
    page: int = 0,
    *,
    sort_direction: Direction = "Descending",
    page_size: int | None = None,
    limit: int | None = None,
) -> Call[Page[Player]]:
    return get(RANK, _page, query(page=page, pageSize=page_size, limit=limit, sortDirection=sort_direction))


def online(*, page_size: int = LARGEST_PAGE, **asked: Unpack[PlayersAsked]) -> Call[Batch[Player]]:
    """Every character that is online, by name, fetched a page at a time; or those that a search finds, or by level."""
    return every_page(lambda page: online_page(page, page_size=page_size, **asked))


def online_page(
    page: int = 0, *, page_size: int | None = None, limit: int | None = None, **asked: Unpack[PlayersAsked]
) -> Call[Page[Player]]:
    return get(ONLINE, _page, query(page=page, pageSize=page_size, limit=limit, **listed(**asked)))


def online_count() -> Call[int]:
    return get(f"{ONLINE}/count", then(reading(OnlineCount), lambda answer: answer.online_count))


def legacy_players(page: int = 0, count: int = 5) -> Call[LegacyPage[Player]]:
    """The deprecated form of the list; `players` is its successor."""
    return post(PLAYERS, {"page": page, "count": count}, _legacy)


def legacy_online(page: int = 0, count: int = 5) -> Call[LegacyPage[Player]]:
    """The old form of the list of those online."""
    return post(ONLINE, {"page": page, "count": count}, _legacy)


def player(player: str) -> Call[Player]:
    """One character, by name or id."""
    return get(_of(player), reading(Player))


def rank_of(player: str, *, around: int | None = None) -> Call[Rank]:
    """Where a character stands, and up to `around` others above and below it, the best first."""
    return get(_of(player, "/rank"), reading(Rank), query(around=around))


def variables(player: str) -> Call[list[Variable]]:
    return get(_of(player, "/variables"), reading(list[Variable]))


def variable(player: str, variable_id: str) -> Call[Variable]:
    return get(path(f"{PLAYERS}/{{}}/variables/{{}}", player, variable_id), reading(Variable))


def variable_value(player: str, variable_id: str) -> Call[int | bool]:
    address = path(f"{PLAYERS}/{{}}/variables/{{}}/value", player, variable_id)
    return get(address, then(reading(Value), lambda answer: answer.value))


def set_variable(
    player: str,
    variable_id: str,
    value: int | bool,  # noqa: FBT001 - booleans are values like any other
    **options: Unpack[WriteOptions],
) -> Call[Variable]:
    address = path(f"{PLAYERS}/{{}}/variables/{{}}", player, variable_id)
    return write("POST", address, reading(Variable), {"value": value}, **options)


def items(player: str) -> Call[Items]:
    """Inventory and bank, the empty slots too."""
    return get(_of(player, "/items"), reading(Items))


def inventory(player: str) -> Call[list[NamedSlot]]:
    return get(_of(player, "/items/inventory"), _slots)


def bank(player: str) -> Call[list[NamedSlot]]:
    return get(_of(player, "/items/bank"), _slots)


def bag(bag_id: str) -> Call[NamedBag]:
    return get(path(f"{PLAYERS}/bag/{{}}", bag_id), reading(NamedBag))


def give_item(
    player: str, item_id: str, quantity: int = 1, *, bank_overflow: bool = False, **options: Unpack[WriteOptions]
) -> Call[Given]:
    """All or nothing; with `bank_overflow`, what does not fit into the inventory goes to the bank."""
    body = {"itemid": item_id, "quantity": quantity, "bankoverflow": bank_overflow}
    return write("POST", _of(player, "/items/give"), reading(Given), body, **options)


def take_item(player: str, item_id: str, quantity: int = 1, **options: Unpack[WriteOptions]) -> Call[Taken]:
    """Out of the inventory, all or nothing."""
    body = {"itemid": item_id, "quantity": quantity}
    return write("POST", _of(player, "/items/take"), reading(Taken), body, **options)


def spells(player: str) -> Call[list[KnownSpell]]:
    return get(_of(player, "/spells"), reading(list[KnownSpell]))


def teach_spell(player: str, spell_id: str, **options: Unpack[WriteOptions]) -> Call[SpellId]:
    return write("POST", _of(player, "/spells/teach"), reading(SpellId), {"spellid": spell_id}, **options)


def forget_spell(player: str, spell_id: str, **options: Unpack[WriteOptions]) -> Call[SpellId]:
    return write("POST", _of(player, "/spells/forget"), reading(SpellId), {"spellid": spell_id}, **options)


def rename_character(player: str, name: str, **options: Unpack[WriteOptions]) -> Call[Player]:
    return write("POST", _of(player, "/name"), reading(Player), {"name": name}, **options)


def set_level(player: str, level: int, **options: Unpack[WriteOptions]) -> Call[Player]:
    """Its experience begins at 0."""
    return write("POST", _of(player, "/level"), reading(Player), {"level": level}, **options)


def set_class(player: str, class_id: str, **options: Unpack[WriteOptions]) -> Call[Player]:
    return write("POST", _of(player, "/class"), reading(Player), {"classid": class_id}, **options)


def delete_character(player: str, **options: Unpack[WriteOptions]) -> Call[Player]:
    """By name or id, while it is not online; the answer is the record as it was."""
    return write("DELETE", _of(player), reading(Player), **options)


def listed(
    search: str | None = None, sort_by: str | None = None, sort_direction: Direction | None = None
) -> dict[str, str | None]:
    """What is asked of a list, as the query has it."""
    return {"search": search, "sortBy": sort_by, "sortDirection": sort_direction}


def _of(player: str, rest: str = "") -> str:
    return path(PLAYERS + "/{}", player) + rest
