"""Parts of a request for a change: limits of gifts, its origin and security events, and approval by a second person."""

from collections.abc import Callable, Coroutine, Mapping
from typing import Any, NamedTuple

from gamekeeper.game.core.lookup import ZERO_GUID
from gamekeeper.store.engine.interface import Reading

EVERY_OTHER_ITEM = ZERO_GUID  # id in a quota that stands for all items without a quota of their own


class DailyLimit(NamedTuple):
    """The most of each item that a giver may give on one UTC day; the largest of its quotas counts."""

    giver_id: str  # an account or an API key
    quotas: tuple[Mapping[str, int], ...]  # for each role: id of an item → the most of it

    def find_most(self, item_id: str) -> int | None:
        """Return the most of an item; None: no limit, because one of the roles has none for it."""
        found = [each.get(item_id, each.get(EVERY_OTHER_ITEM)) for each in self.quotas]
        limits = [each for each in found if each is not None]
        return max(limits) if limits and len(limits) == len(found) else None


class GiftLimits(NamedTuple):
    items: frozenset[str] | None = None  # ids of the items that may be given; None: all
    most_per_request: int | None = None
    daily: tuple[DailyLimit, ...] = ()


NO_LIMITS = GiftLimits()


class Origin(NamedTuple):
    """Where a request came from."""

    address: str | None = None
    browser: str | None = None  # header User-Agent, cut


UNKNOWN_ORIGIN = Origin()
FindOrigin = Callable[[], Origin]


class SecurityEvent(NamedTuple):
    kind: str  # one of `KINDS` of game/access/security_log.py
    user_id: str | None  # the account that the event is about; None: an unknown account, or none
    actor_id: str | None = None  # the account that caused the event; None: the command line, or unknown
    origin: Origin = UNKNOWN_ORIGIN
    credential_id: str | None = None  # the token or API key that the event is about
    details: Mapping[str, object] | None = None  # as the API answers them: no secrets, no names of people


class HeldRequest(NamedTuple):
    """What is needed to run a request again."""

    method: str
    path: str
    query: str
    content_type: str
    body: bytes


NO_REQUEST = HeldRequest("", "", "", "", b"")
FindRequest = Callable[[], HeldRequest]


class ApproverKey(NamedTuple):
    """The approver's Idempotency-Key, under which the answer to the approver is stored."""

    scope_id: str
    key: str
    fingerprint: str
    make_answer: Callable[[bytes], bytes]  # makes the answer to the approver from that to the requester


class Consent(NamedTuple):
    """The approval of a held change by a second person."""

    approval_id: str
    scope_id: str  # where the answer to the requester's Idempotency-Key is stored
    approver_id: str
    approver_token_id: str
    reason: str | None
    check_requester: Callable[[Reading], Coroutine[Any, Any, None]]  # refuses if the requester lost a permission
    approver_key: ApproverKey | None = None


# permission → the most of an item on a UTC day, or the most players of a bulk job, without approval; None: always held
Rules = Mapping[str, int | None]
