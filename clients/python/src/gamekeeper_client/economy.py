"""The economy: items in circulation, where they come from, who has the most, and who gave how much."""

from typing import Literal

from msgspec import Struct

from gamekeeper_client.call import Payload
from gamekeeper_client.operation import operation
from gamekeeper_client.paging import build_page_query

_PAGE_NAMES = {
    "total": "Total",
    "page": "Page",
    "page_size": "PageSize",
    "count": "Count",
    "from_": "From",
    "to": "To",
    "up_to": "UpTo",
    "values": "Values",
}


class UpTo(Struct, rename="pascal"):
    """All changes up to `seq` are counted; before `since` the flows are not known."""

    seq: int
    at: str | None
    since: str
    complete: bool


class Sources(Struct, rename={"import_": "Import", "game": "Game", "key": "Key", "staff": "Staff", "undo": "Undo"}):
    """Quantities by source."""

    game: int = 0
    key: int = 0
    staff: int = 0
    undo: int = 0
    import_: int = 0


class EconomyItem(Struct, rename="pascal"):
    """An item; `name` is None if the catalogue does not have it."""

    item_id: str
    name: str | None
    quantity: int
    holders: int
    created: Sources
    destroyed: Sources


class EconomyPage(Struct, rename=_PAGE_NAMES):
    total: int
    page: int
    page_size: int
    count: int
    from_: str
    to: str
    up_to: UpTo
    values: list[EconomyItem]


class ItemDay(Struct, rename="pascal"):
    """A UTC day; quantity and holders are those at its end, None if not known."""

    day: str
    quantity: int | None
    holders: int | None
    created: Sources
    destroyed: Sources


class ItemEconomy(Struct, rename="pascal"):
    item_id: str
    name: str | None
    quantity: int
    holders: int
    up_to: UpTo
    days: list[ItemDay]


class Holder(Struct, rename="pascal"):
    rank: int
    player_id: str
    name: str | None
    quantity: int


class HoldersPage(Struct, rename="pascal"):
    """A page of holders; if not `ranked`, only the first 100 are listed."""

    total: int
    page: int
    page_size: int
    count: int
    ranked: bool
    holders: int | None
    up_to: UpTo
    values: list[Holder]


class GiftSum(Struct, rename="pascal"):
    """What an account or API key gave and took of an item; `giver_id` is None for the command line."""

    source: Literal["staff", "key"]
    giver_id: str | None
    name: str | None
    owner: str | None
    item_id: str
    item_name: str | None
    given: int
    taken: int


class GiftsPage(Struct, rename=_PAGE_NAMES):
    total: int
    page: int
    page_size: int
    count: int
    from_: str
    to: str
    up_to: UpTo
    values: list[GiftSum]


class EconomyReports:
    @operation("GET", "/api/keeper/v1/economy")
    def list_economy(
        self, page: int = 0, *, page_size: int | None = None, from_: str | None = None, to: str | None = None
    ) -> Payload[EconomyPage]:
        """List one page of items by name, with what was created and destroyed in a range of days.

        from_: a time on the first UTC day; default six days before the last one. At most 92 days.
        to: a time on the last UTC day; default today.
        Returns the page, with the total number of items.
        Raises BadField, PermissionMissing.
        """
        return Payload(EconomyPage, query={**build_page_query(page, page_size), "from": from_, "to": to})

    @operation("GET", "/api/keeper/v1/economy/items/{item_id}")
    def get_item_economy(
        self, item_id: str, *, from_: str | None = None, to: str | None = None
    ) -> Payload[ItemEconomy]:
        """Get what was created and destroyed of an item on each UTC day, by source.

        item_id: id of the item.
        from_: a time on the first UTC day; default six days before the last one. At most 400 days.
        to: a time on the last UTC day; default today.
        Returns the item with its days.
        Raises NoSuchItem, BadField, PermissionMissing.
        """
        return Payload(ItemEconomy, query={"from": from_, "to": to})

    @operation("GET", "/api/keeper/v1/economy/items/{item_id}/holders")
    def list_item_holders(self, item_id: str, page: int = 0, *, page_size: int | None = None) -> Payload[HoldersPage]:
        """List one page of the players who have the most of an item.

        item_id: id of the item.
        Returns the page. Without `ranked`, only the first 100 players are found.
        Raises NoSuchItem, BadField, PermissionMissing.
        """
        return Payload(HoldersPage, query=build_page_query(page, page_size))

    @operation("GET", "/api/keeper/v1/economy/variables/{variable_id}/holders")
    def list_variable_holders(
        self, variable_id: str, page: int = 0, *, page_size: int | None = None
    ) -> Payload[HoldersPage]:
        """List one page of players by the value of a ranked variable, highest first.

        variable_id: id of the variable.
        Returns the page. It is empty without `ranked`.
        Raises NoSuchVariable, BadField, PermissionMissing.
        """
        return Payload(HoldersPage, query=build_page_query(page, page_size))

    @operation("GET", "/api/keeper/v1/economy/staff")
    def list_gifts(
        self,
        page: int = 0,
        *,
        page_size: int | None = None,
        item: str | None = None,
        giver: str | None = None,
        from_: str | None = None,
        to: str | None = None,
    ) -> Payload[GiftsPage]:
        """List one page of how much accounts and API keys gave and took of each item, most first.

        item: id of an item; default all.
        giver: id of an account or an API key; default all.
        from_: a time on the first UTC day; default six days before the last one. At most 92 days.
        to: a time on the last UTC day; default today.
        Returns the page.
        Raises BadField, PermissionMissing.
        """
        query = {**build_page_query(page, page_size), "item": item, "giver": giver, "from": from_, "to": to}
        return Payload(GiftsPage, query=query)
