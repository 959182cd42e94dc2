"""Signals: what rules over changes, requests and game servers have found."""

from typing import Unpack

from msgspec import Struct

from gamekeeper_client.call import Payload
from gamekeeper_client.operation import WriteOptions, operation


class EvidenceChange(Struct, rename="pascal"):
    seq: int
    amount: int
    at: str | None  # None: the change was trimmed from the audit log
    player_id: str | None
    player: str | None


class SignalEvidence(Struct, rename="pascal"):
    """What a rule compared; fields that the rule does not have are None."""

    limit: int | None
    amount: int | None
    before: int | None
    after: int | None
    usual: int | None
    since: str | None
    job_id: str | None


class Signal(Struct, rename="pascal"):
    id: str
    rule: str
    state: str
    first_at: str
    last_at: str
    times: int
    item_id: str | None
    item: str | None
    player_id: str | None
    player: str | None
    giver_id: str | None
    giver: str | None
    server: str | None
    bag_id: str | None
    evidence: SignalEvidence
    acknowledged_at: str | None
    acknowledged_by_id: str | None
    acknowledged_by: str | None
    note: str | None


class SignalDetails(Signal, rename="pascal"):
    changes: list[EvidenceChange]
    more_changes: int  # number of changes besides these


class Signals(Struct, rename="pascal"):
    signals: list[Signal]
    next: str | None


class SignalOperations:
    @operation("GET", "/api/keeper/v1/signals")
    def list_signals(
        self,
        *,
        state: str | None = None,
        rule: str | None = None,
        before: str | None = None,
        limit: int | None = None,
    ) -> Payload[Signals]:
        """List signals, newest first.

        state: open or acknowledged; only signals in this state.
        rule: only signals of this rule, such as supply.
        before: `next` of the page before.
        limit: at most this many signals.
        Returns a page of signals.
        Raises BadField, PermissionMissing.
        """
        return Payload(Signals, query={"state": state, "rule": rule, "before": before, "limit": limit})

    @operation("GET", "/api/keeper/v1/signals/{signal_id}")
    def get_signal(self, signal_id: str) -> Payload[SignalDetails]:
        """Get a signal with the changes of its evidence.

        signal_id: id of the signal.
        Returns the signal.
        Raises NoSuchSignal, BadField, PermissionMissing.
        """
        return Payload(SignalDetails)

    @operation("POST", "/api/keeper/v1/signals/{signal_id}/acknowledge")
    def acknowledge_signal(self, signal_id: str, note: str = "", **options: Unpack[WriteOptions]) -> Payload[Signal]:
        """Acknowledge a signal. One that is acknowledged already stays as it is.

        signal_id: id of the signal.
        note: what was found, at most 1000 characters.
        Returns the signal.
        Raises NoSuchSignal, BadField, PermissionMissing.
        """
        return Payload(Signal, body={"Note": note})
