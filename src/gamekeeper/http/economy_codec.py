"""Convert reports of the economy to their JSON shapes."""

from gamekeeper.game.economy_reports import (
    DayReport,
    EconomyItem,
    GiftsReport,
    HoldersReport,
    ItemReport,
    ItemsReport,
    NamedGift,
    Sums,
    is_command_line,
)
from gamekeeper.http import wire
from gamekeeper.http.instants import encode_date, format_instant
from gamekeeper.http.paging import PageRange
from gamekeeper.store.economy import EconomyState


def make_items_page(report: ItemsReport, page: PageRange) -> wire.economy.EconomyPage:
    items = [_make_item(each) for each in report.items]
    first, last = (format_day(each) for each in report.days)
    return wire.economy.EconomyPage(
        report.total, page.number, page.size, len(items), first, last, make_up_to(report.state), items
    )


def make_item(report: ItemReport) -> wire.economy.ItemEconomy:
    days = [_make_day(each) for each in report.days]
    return wire.economy.ItemEconomy(*report.total, make_up_to(report.state), days)


def make_holders_page(report: HoldersReport, page: PageRange) -> wire.economy.HoldersPage:
    found = report.page
    holders = [
        wire.economy.Holder(page.offset + place, each.player_id, each.name, each.quantity)
        for place, each in enumerate(found.holders, start=1)
    ]
    return wire.economy.HoldersPage(
        found.total,
        page.number,
        page.size,
        len(holders),
        found.is_ranked,
        found.in_all,
        make_up_to(report.state),
        holders,
    )


def make_gifts_page(report: GiftsReport, page: PageRange) -> wire.economy.GiftsPage:
    gifts = [_make_gift(each) for each in report.gifts]
    first, last = (format_day(each) for each in report.days)
    return wire.economy.GiftsPage(
        report.total, page.number, page.size, len(gifts), first, last, make_up_to(report.state), gifts
    )


def make_up_to(state: EconomyState) -> wire.economy.UpTo:
    at = format_instant(state.at) if state.at else None
    return wire.economy.UpTo(state.seq, at, format_instant(state.since), state.swept is None)


def format_day(day: int) -> str:
    return encode_date(day).decode()


def _make_item(each: EconomyItem) -> wire.economy.EconomyItem:
    return wire.economy.EconomyItem(*each.total, *_make_sources(each.sums))


def _make_day(each: DayReport) -> wire.economy.ItemDay:
    return wire.economy.ItemDay(format_day(each.day), each.quantity, each.holders, *_make_sources(each.sums))


def _make_gift(each: NamedGift) -> wire.economy.GiftSum:
    gift, giver = each.gift, each.giver
    return wire.economy.GiftSum(
        "key" if giver.is_key or gift.source == "key" else "staff",
        None if is_command_line(giver) else giver.id,
        giver.name,
        giver.owner,
        gift.item_id,
        each.item_name,
        gift.given,
        gift.taken,
    )


def _make_sources(sums: Sums) -> tuple[wire.economy.Sources, wire.economy.Sources]:
    """Return created and destroyed by source."""
    created, destroyed = (
        wire.economy.Sources(**{source.capitalize(): pair[side] for source, pair in sums.items()}) for side in (0, 1)
    )
    return created, destroyed
