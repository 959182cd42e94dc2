"""Changes of signals. Those about a person belong to its account, so that an erasure removes what names it."""

from dataclasses import dataclass

from gamekeeper.game.codec import ChangeSide, Codec, SubjectIds
from gamekeeper.game.signal_rules import BEYOND, SILENT
from gamekeeper.store import signals
from gamekeeper.store.engine import Writing
from gamekeeper.store.signals import Signal


@dataclass(frozen=True, slots=True)
class SignalRaised:
    """A new signal. `signals.raise_findings` stores it together with its entry in the audit log."""

    signal: Signal
    user_id: str | None  # account of the person that the signal is about
    kind = "signal_raised"

    def whose(self) -> SubjectIds:
        return None, self.user_id

    def sides(self) -> tuple[ChangeSide | None, ChangeSide]:
        return None, _make_side(self.signal)

    def carry_out(self, tx: Writing, _: Codec) -> None:
        """Do nothing: the rule that found it has stored it."""


@dataclass(frozen=True, slots=True)
class SignalAcknowledged:
    signal: Signal  # after it
    user_id: str | None
    kind = "signal_acknowledged"

    def whose(self) -> SubjectIds:
        return None, self.user_id

    def sides(self) -> tuple[ChangeSide | None, ChangeSide]:
        side = _make_side(self.signal)
        return None, ChangeSide(command={**side.command, "Note": self.signal.note})

    def carry_out(self, tx: Writing, _: Codec) -> None:
        signals.acknowledge(tx, self.signal)


def _make_side(signal: Signal) -> ChangeSide:
    return ChangeSide(
        command={
            "SignalId": signal.id,
            "Rule": signal.rule,
            "PlayerId": signal.player_id,
            "ItemId": signal.item_id,
            "Server": signal.subject if signal.rule == SILENT and signal.subject != BEYOND else None,
        }
    )
