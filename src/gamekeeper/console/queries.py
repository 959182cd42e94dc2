"""Query parameters of the console's pages, decoded like those of the API."""

from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from gamekeeper.http import mail_cursor, queries
from gamekeeper.http.request import Request
from gamekeeper.http.wire.guilds import GuildSort, MemberSort
from gamekeeper.http.wire.history import Cursor, find_start
from gamekeeper.http.wire.lists import Direction, PageQuery, PageSize, Search
from gamekeeper.http.wire.mails import MailsBefore
from gamekeeper.http.wire.players import Order
from gamekeeper.http.wire.scalars import Guid, Positive
from gamekeeper.http.wire.signals import SignalRule
from gamekeeper.store.economy import ItemSort

PAGE_SIZE = 50  # records per page of a list
HOLDERS_SIZES = (20, 50, 100)  # holders of an item or a variable per page; the first is the default
ReportDays = Annotated[Positive, Meta(le=92)]  # UTC days of a report about the economy, with the present one


class SearchQuery(Struct, frozen=True):
    search: Search = ""


class CatalogueQuery(PageQuery, frozen=True):
    pageSize: PageSize = PAGE_SIZE  # noqa: N815 - name of the API's query parameter
    search: Search = ""


class EconomyListQuery(PageQuery, frozen=True):
    pageSize: PageSize = PAGE_SIZE  # noqa: N815 - name of the API's query parameter
    days: ReportDays = 7


class EconomyItemsQuery(EconomyListQuery, frozen=True):
    sortBy: ItemSort = "name"  # noqa: N815 - name of the API's query parameter
    sortDirection: Direction = "Ascending"  # noqa: N815 - name of the API's query parameter


class GiftsPageQuery(EconomyListQuery, frozen=True):
    giver: Guid | UnsetType = UNSET  # id of an account or an API key


class HoldersQuery(PageQuery, frozen=True):
    pageSize: PageSize = HOLDERS_SIZES[0]  # noqa: N815 - name of the API's query parameter


class ItemQuery(HoldersQuery, frozen=True):
    days: ReportDays = 30


class ListQuery(CatalogueQuery, frozen=True):
    sortDirection: Direction = "Ascending"  # noqa: N815 - name of the API's query parameter


class JumpQuery(Struct, frozen=True):
    jump: Positive = 1


class GuildListQuery(ListQuery, frozen=True):
    sortBy: GuildSort = "name"  # noqa: N815 - name of the API's query parameter


class RosterQuery(ListQuery, frozen=True):
    sortBy: MemberSort = "guildrank"  # noqa: N815 - name of the API's query parameter


class RankingQuery(Struct, frozen=True):
    rank: Positive | UnsetType = UNSET
    sortDirection: Order = "Descending"  # noqa: N815 - name of the API's query parameter


class SignalsPageQuery(Struct, frozen=True):
    state: Literal["open", "acknowledged", "all"] = "open"
    rule: SignalRule | UnsetType = UNSET
    before: MailsBefore = mail_cursor.START


class BeforeChange(Struct, frozen=True):
    before: Cursor | UnsetType = UNSET


class BeforeMark(Struct, frozen=True):
    before: MailsBefore = mail_cursor.START


def find_cursor(request: Request) -> int | None:
    """Return the number of the change before which a page of the history starts; None: it starts with the newest."""
    return find_start(queries.decode(BeforeChange, request.query).before)
