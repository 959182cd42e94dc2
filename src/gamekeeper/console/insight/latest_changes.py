"""The latest changes of the home page. Similar changes in a row, such as those of a bulk job, are one line."""

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from gamekeeper.console.audit import bulk_jobs, bulk_titles, change_lines
from gamekeeper.console.audit.bulk_titles import JobView
from gamekeeper.console.audit.change_lines import SignalLine
from gamekeeper.console.frame import differences, list_page
from gamekeeper.console.frame.differences import TIMES_SIGN, Difference
from gamekeeper.console.frame.formats import format_number
from gamekeeper.console.frame.labels import SIGNAL_TITLES
from gamekeeper.console.frame.texts import ngettext
from gamekeeper.game.audit import history, undo
from gamekeeper.game.audit.changes import BulkJobChanged
from gamekeeper.game.audit.history import HistoryPage
from gamekeeper.game.keeper import Keeper
from gamekeeper.store.audit.bulk_jobs import find, is_undone
from gamekeeper.store.audit.history import HistoryChange, HistoryFilter, find_beside_jobs, find_change, find_scan_end
from gamekeeper.store.engine.interface import Reading
from gamekeeper.store.world import catalogue

LINES = 10  # lines that the home page shows
MOST_READ = 100  # changes read at most to fill the lines, besides those that are read between bulk jobs
SCANNED_ROWS = 2_000  # changes that one statement looks through beside those of bulk jobs: takes a few milliseconds
MOST_SCANS = 6  # such statements, which together look through more changes than one bulk job can have
LEAST_FOLDED = 3  # fewer similar changes in a row stay single lines with their differences
GIVEN, TAKEN = "items_given", "items_taken"


class LatestLine(NamedTuple):
    """One line: a single change with its differences, or several similar ones with a summary."""

    told: HistoryChange  # the newest of the changes
    lines: Sequence[Difference] = ()
    size: int = 1  # number of changes
    summary: str = ""
    href: str = ""  # list of all the changes
    first: int = 0  # number of the oldest of the changes
    is_undone: bool = False  # all of the changes are undone
    can_undo: bool = False  # a change of this kind can be undone; the preview of the undo checks the rest
    job: JobView | None = None  # the bulk job that the line is about
    signal: SignalLine | None = None  # the signal that a single change is about


class LatestChanges(NamedTuple):
    lines: list[LatestLine]
    undone: Mapping[int, int]


async def load(keeper: Keeper, *, accounts: bool) -> LatestChanges:
    """Load the newest changes, as few as fill the lines. `accounts`: whether the viewers may see accounts."""
    wanted = HistoryFilter(accounts=accounts)
    read = await keeper.store.read(lambda tx: _read(tx, wanted))
    groups, undone = fold(read.changes)[:LINES], read.undone
    jobs = await keeper.store.read(lambda tx: _load_jobs(tx, {find_job(group[0]) for group in groups}))
    single = [group[0] for group in groups if len(group) == 1 and find_job(group[0]) not in jobs]
    found = await differences.list_differences(keeper, single, sees_accounts=accounts)
    of_signals = await change_lines.load_signal_lines(keeper.store, single, accounts=accounts)
    by_number = {told.seq: lines for told, lines in zip(single, found, strict=True)}
    lines: list[LatestLine] = []
    for group in groups:
        told = group[0]
        if view := jobs.get(find_job(told)):
            lines.append(_make_job_line(*view, group))
        elif len(group) == 1:
            is_undone = told.seq in undone
            # the page is the same for all who may undo changes, and hardly anybody may undo those of the game
            can_undo = not is_undone and undo.is_undoable(told) and not told.from_game
            signal = of_signals.get(told.seq)
            lines.append(LatestLine(told, by_number[told.seq], is_undone=is_undone, can_undo=can_undo, signal=signal))
        else:
            is_open = read.next is not None and group[-1] is read.changes[-1]  # older changes of the group may follow
            summary = await _summarize(keeper, group, is_open=is_open)
            is_undone = all(each.seq in undone for each in group)
            lines.append(LatestLine(told, (), len(group), summary, build_href(group), group[-1].seq, is_undone))
    return LatestChanges(lines, undone)


async def _read(tx: Reading, wanted: HistoryFilter) -> HistoryPage:
    """Read as many changes as fill the lines. Of a bulk job with many changes, most are skipped.

    Older changes than those that the scans look through are left out, also if lines stay empty.
    """
    page = await history.load_page(tx, wanted, None, LINES)
    if page.next is not None and len(fold(page.changes)) < LINES:
        page = _join(page, await history.load_page(tx, wanted, page.next, MOST_READ - LINES))
    has_jobs = any(bulk_jobs.find_run(each) for each in page.changes)
    for _ in range(MOST_SCANS if has_jobs else 0):
        if page.next is None or len(fold(page.changes)) >= LINES:
            break
        page = _join(page, await _read_beside_jobs(tx, wanted, page.next))
    return page


async def _read_beside_jobs(tx: Reading, wanted: HistoryFilter, before: int) -> HistoryPage:
    """Read the newest change of each bulk job, and all other changes, out of SCANNED_ROWS; at most LINES of them."""
    numbers = await find_beside_jobs(tx, before, SCANNED_ROWS, LINES)
    told = [each for seq in numbers if (each := await find_change(tx, seq))]
    found = history.hide_unseen([each for each in told if wanted.accounts or not each.about_account], wanted)
    undone = await history.find_undone_changes(tx, found)
    if len(numbers) == LINES:
        return HistoryPage(found, undone, numbers[-1])
    end = await find_scan_end(tx, wanted, before, SCANNED_ROWS)
    return HistoryPage(found, undone, end.seq if end.rows == SCANNED_ROWS else None)


def _join(page: HistoryPage, rest: HistoryPage) -> HistoryPage:
    return HistoryPage([*page.changes, *rest.changes], dict(page.undone) | dict(rest.undone), rest.next)


async def _load_jobs(tx: Reading, ids: AbstractSet[str]) -> dict[str, tuple[JobView, bool]]:
    """Load the jobs of the lines, and whether all changes of each are undone. A job that was deleted is left out."""
    found = [job for each in sorted(ids) if each and (job := await find(tx, each))]
    return {view.job.id: (view, await is_undone(tx, view.job.id)) for view in await bulk_titles.load_views(tx, found)}


def _make_job_line(view: JobView, undone: bool, group: Sequence[HistoryChange]) -> LatestLine:  # noqa: FBT001 - from a tuple
    """Make the line of a bulk job. The job knows the number of its players, however many changes were read."""
    told = next((each for each in group if bulk_jobs.find_run(each)), group[0])
    href, summary = f"{bulk_jobs.PAGE}/{view.job.id}", bulk_titles.describe_progress(view)
    return LatestLine(told._replace(reason=view.job.reason), (), len(group), summary, href, 0, undone, job=view)


def fold(newest: Iterable[HistoryChange]) -> list[list[HistoryChange]]:
    """Group the changes of each bulk job, and other similar changes in a row. Too small groups are split again."""
    groups: list[list[HistoryChange]] = []
    of_jobs: dict[str, list[HistoryChange]] = {}
    last: list[HistoryChange] = []  # the group of the change before, leaving out those of bulk jobs
    for each in newest:
        job = find_job(each)
        if job in of_jobs:
            of_jobs[job].append(each)
        elif job:
            of_jobs[job] = [each]
            groups.append(of_jobs[job])
        elif last and _find_key(last[0]) == _find_key(each):
            last.append(each)
        else:
            last = [each]
            groups.append(last)
    return [
        part
        for group in groups
        for part in ([group] if len(group) >= LEAST_FOLDED or find_job(group[0]) else [[each] for each in group])
    ]


def find_job(told: HistoryChange) -> str:
    """Return the id of the bulk job that made a change, or that a person started or stopped by it; empty if none."""
    if told.kind == BulkJobChanged.kind:
        return bulk_titles.find_job_id(told.after)
    return bulk_jobs.find_run(told)


def _find_key(told: HistoryChange) -> tuple[object, ...]:
    """Return what similar changes have in common.

    Undos and the signals of a rule are groups of their own. Other changes of the whole game stay single.
    """
    if side := change_lines.find_signal_side(told):
        return told.kind, side.Rule, told.actor_id, told.reason
    if not (told.player_id or told.user_id):
        return (told.seq,)
    return told.kind, told.actor_id, told.key, told.over_link, told.reason, told.undoes is not None


def build_href(group: Sequence[HistoryChange]) -> str:
    """Build the address of the list of these changes, from the newest on."""
    told = group[0]
    sought = {"kind": told.kind, "actor": told.actor_id or "", "reason": told.reason or "", "before": str(told.seq + 1)}
    return list_page.build_address("/console/changes", sought)


async def _summarize(keeper: Keeper, group: Sequence[HistoryChange], *, is_open: bool) -> str:
    told = group[0]
    if side := change_lines.find_signal_side(told):
        title, more = SIGNAL_TITLES().get(side.Rule, side.Rule), f"{len(group)}+" if is_open else f"{len(group)}"
        return ngettext("%(title)s: %(more)s signal", "%(title)s: %(more)s signals", len(group), title=title, more=more)
    players = {each.player_id for each in group if each.player_id}
    number = len(players or {each.user_id for each in group})
    more = f"{number}+" if is_open else f"{number}"
    if told.kind in {GIVEN, TAKEN} and players:
        gift = await _describe_gift(keeper, group)
        if gift and told.kind == GIVEN:
            return ngettext("%(gift)s to %(more)s player", "%(gift)s to %(more)s players", number, gift=gift, more=more)
        if gift:
            return ngettext(
                "%(gift)s from %(more)s player", "%(gift)s from %(more)s players", number, gift=gift, more=more
            )
    if players:
        return ngettext("%(more)s player", "%(more)s players", number, more=more)
    return ngettext("%(more)s account", "%(more)s accounts", number, more=more)


async def _describe_gift(keeper: Keeper, group: Sequence[HistoryChange]) -> str:
    """Describe the items that each of the changes gave or took; empty if they are not the same for all."""
    read = keeper.changes.codec.decode_side
    counts = [differences.count_items(*differences.decode_sides(read, each)) for each in group]
    moved = {frozenset((item, abs(count)) for item, count in each.items() if count) for each in counts}
    if len(moved) != 1:
        return ""
    items = dict(moved.pop())
    names = differences.Names(
        {"items": await catalogue.find_by_ids(keeper.store, "items", list(items)) if items else {}}
    )
    return ", ".join(
        f"{format_number(quantity)} {TIMES_SIGN} {names.find_name('items', item)}"
        for item, quantity in sorted(items.items())
    )
