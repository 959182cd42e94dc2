"""Filtered lists of accounts: by state, role and last sign-in. A page costs the same for any number of accounts.

Each condition has an index. If fewer than MAX_MATCHES accounts meet one of the conditions, all of these are read and
compared with the others, and the list is complete. Otherwise a limited number of accounts is compared: with a text its
matches, without one the first MAX_MATCHES accounts that meet the first condition.
"""

from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from gamekeeper.game.core import lookup
from gamekeeper.game.lists import search
from gamekeeper.game.lists.search import ACCOUNTS, Matches, Sort
from gamekeeper.store.accounts import moderation
from gamekeeper.store.accounts.users import User
from gamekeeper.store.engine.interface import Reading
from gamekeeper.store.lists import search as rows
from gamekeeper.store.lists.search import UserMatch

BANNED, MUTED, POWERS = "banned", "muted", "powers"
STATES = (BANNED, MUTED, POWERS)
NEWEST = "newest"  # order by the start of the ban or mute, or by the last sign-in
END_OF_TIME = 2**63 - 1
# finds those of these accounts that meet a condition: id → time of the ban, mute or sign-in; 0 if there is none
FindTimes = Callable[[Reading, Iterable[str]], Coroutine[Any, Any, Mapping[str, int]]]


class AccountFilter(NamedTuple):
    """What accounts must have in common. Times are in ms since 1970; None: any."""

    state: str = ""  # one of STATES
    role: str = ""
    signed_in_from: int | None = None  # the last sign-in in the security log
    signed_in_to: int | None = None

    @property
    def has_times(self) -> bool:
        return self.signed_in_from is not None or self.signed_in_to is not None


class _Condition(NamedTuple):
    find: Callable[[Reading], Coroutine[Any, Any, Matches]]  # accounts that meet it; cut: there may be more
    among: FindTimes
    has_times: bool = False


def make_sorts(wanted: AccountFilter) -> Mapping[str, Sort[User]]:
    """Make the sort orders of a filtered list; the first is the default."""
    conditions = _list_conditions(wanted)
    if not conditions:
        return ACCOUNTS
    find = partial(_match, conditions)
    names = {
        "name": Sort(None, find, search.get_name, search.read_users),
        "email": Sort(None, find, search.get_email, search.read_users),
    }
    if not any(each.has_times for each in conditions):
        return names
    return {NEWEST: Sort(None, find, _get_newest, search.read_users), **names}


def _list_conditions(wanted: AccountFilter) -> list[_Condition]:
    """List the conditions of a filter: first those that usually few accounts meet."""
    found: list[_Condition] = []
    if wanted.role:
        found.append(_Condition(partial(_find_role, wanted.role), partial(_filter_role, wanted.role)))
    if wanted.state:
        found.append(_STATES[wanted.state])
    if wanted.has_times:
        times = wanted.signed_in_from or 0, END_OF_TIME if wanted.signed_in_to is None else wanted.signed_in_to
        found.append(_Condition(partial(_find_signed_in, times), partial(_filter_signed_in, times), has_times=True))
    return found


async def _match(conditions: Sequence[_Condition], tx: Reading, sought: str) -> Matches:
    """Find the accounts that meet all conditions and match a text. An empty text matches all."""
    base, matches = await _find_base(tx, conditions, sought)
    found = [each for each in matches.found if _contains(each.fold, sought) or _contains(each.email_fold, sought)]
    since: Mapping[str, int] | None = None
    for each in conditions:
        ids = [match.id for match in found]
        times = {match.id: match.since for match in found} if each is base else await each.among(tx, ids)
        found = [match for match in found if match.id in times]
        since = times if since is None and each.has_times else since
    return Matches([each._replace(since=(since or {}).get(each.id, 0)) for each in found], matches.is_cut)


async def _find_base(tx: Reading, conditions: Sequence[_Condition], sought: str) -> tuple[_Condition | None, Matches]:
    """Find the accounts to compare, and the condition that all of them meet; None: they are matches of the search."""
    first: Matches | None = None
    for each in conditions:
        matches = await each.find(tx)
        if not matches.is_cut:
            return each, matches
        first = first or matches
    if sought or first is None:
        return None, await search.match_users(tx, sought)
    return conditions[0], first


def _contains(fold: str, sought: str) -> bool:
    return sought in lookup.strip_clash(fold)


def _cut(found: Sequence[UserMatch]) -> Matches:
    return Matches(found, len(found) >= search.MAX_MATCHES)


async def _find_banned(tx: Reading) -> Matches:
    return _cut(await rows.find_banned(tx, search.MAX_CANDIDATES, search.MAX_MATCHES))


async def _find_muted(tx: Reading) -> Matches:
    return _cut(await rows.find_muted(tx, search.MAX_CANDIDATES, search.MAX_MATCHES))


async def _find_with_powers(tx: Reading) -> Matches:
    return _cut(await rows.find_with_powers(tx, search.MAX_MATCHES))


async def _find_role(role: str, tx: Reading) -> Matches:
    return _cut(await rows.find_with_role(tx, role, search.MAX_MATCHES))


async def _find_signed_in(times: tuple[int, int], tx: Reading) -> Matches:
    """Find accounts by their last sign-in, among the newest sign-ins of the range."""
    newest, is_cut = await rows.find_sign_ins(tx, *times, search.MAX_CANDIDATES)
    last = await _filter_signed_in(times, tx, newest)
    ids = sorted(last, key=lambda each: (-last[each], each))[: search.MAX_MATCHES]
    found = await rows.read_users(tx, ids)
    is_cut = is_cut or len(ids) >= search.MAX_MATCHES
    return Matches([each._replace(since=last[each.id]) for each in found], is_cut)


async def _filter_banned(tx: Reading, ids: Iterable[str]) -> dict[str, int]:
    return {each.user_id: each.started_at for each in await moderation.find_bans(tx, ids)}


async def _filter_muted(tx: Reading, ids: Iterable[str]) -> dict[str, int]:
    return {each.user_id: each.started_at for each in await moderation.find_mutes(tx, ids)}


async def _filter_with_powers(tx: Reading, ids: Iterable[str]) -> dict[str, int]:
    return dict.fromkeys(await rows.filter_with_powers(tx, ids), 0)


async def _filter_role(role: str, tx: Reading, ids: Iterable[str]) -> dict[str, int]:
    return dict.fromkeys(await rows.filter_with_role(tx, role, ids), 0)


async def _filter_signed_in(times: tuple[int, int], tx: Reading, ids: Iterable[str]) -> dict[str, int]:
    found = await rows.read_last_sign_ins(tx, ids)
    return {each: at for each, at in found.items() if times[0] <= at <= times[1]}


def _get_newest(found: UserMatch) -> tuple[int, str]:
    return -found.since, found.fold


_STATES: Mapping[str, _Condition] = {
    BANNED: _Condition(_find_banned, _filter_banned, has_times=True),
    MUTED: _Condition(_find_muted, _filter_muted, has_times=True),
    POWERS: _Condition(_find_with_powers, _filter_with_powers),
}
ALL_SORTS = (NEWEST, *ACCOUNTS)
