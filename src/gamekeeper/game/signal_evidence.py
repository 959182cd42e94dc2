"""Evidence of signals: what a rule compared, and the largest changes that add up to it. It names no person."""

from collections.abc import Iterable
from typing import NamedTuple

import msgspec

MOST_CHANGES = 20  # changes in the evidence of a signal: the largest ones


class EvidenceChange(NamedTuple):
    seq: int
    quantity: int


class ChangeList(NamedTuple):
    """The largest of some changes, in their order, and how many more there are."""

    changes: tuple[EvidenceChange, ...] = ()
    more: int = 0

    def add(self, change: EvidenceChange) -> "ChangeList":
        """Return the list with one more change, whose number is higher than those of the others."""
        if len(self.changes) < MOST_CHANGES:
            return ChangeList((*self.changes, change), self.more)
        return join_changes((self, ChangeList((change,))))


NO_CHANGES = ChangeList()


class Evidence(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a rule compared; which fields it has depends on the rule."""

    limit: int | None = None
    quantity: int | None = None  # that is above the limit, or that does not add up
    before: int | None = None  # quantity in circulation an hour before, or at the end of the day before
    after: int | None = None
    usual: int | None = None  # requests refused in ten minutes, as a median of the last day
    since: int | None = None  # time in ms
    job_id: str | None = None  # bulk job that gives the items
    changes: tuple[EvidenceChange, ...] = ()
    more: int = 0  # number of changes besides these


def join_changes(lists: Iterable[ChangeList]) -> ChangeList:
    """Join lists of different changes. The result does not depend on how the changes are spread over the lists."""
    parts = tuple(lists)
    every = [change for each in parts for change in each.changes]
    largest = sorted(every, key=lambda each: (-abs(each.quantity), each.seq))[:MOST_CHANGES]
    return ChangeList(tuple(sorted(largest)), sum(each.more for each in parts) + len(every) - len(largest))


def add_lead(evidence: Evidence, lead: ChangeList) -> Evidence:
    """Add the changes that led to a finding to its evidence."""
    joined = join_changes((lead, ChangeList(evidence.changes, evidence.more)))
    return msgspec.structs.replace(evidence, changes=joined.changes, more=joined.more)


def merge_evidence(known: Evidence, found: Evidence) -> Evidence:
    """Merge two evidences: the figures of the one with the greater quantity, and the changes of both."""
    greater = found if (found.quantity or 0) >= (known.quantity or 0) else known
    joined = join_changes(ChangeList(each.changes, each.more) for each in (known, found))
    return msgspec.structs.replace(greater, changes=joined.changes, more=joined.more)


def encode_changes(changes: ChangeList) -> str:
    return msgspec.json.encode(changes).decode()


def decode_changes(text: str) -> ChangeList:
    return msgspec.json.decode(text, type=ChangeList)
