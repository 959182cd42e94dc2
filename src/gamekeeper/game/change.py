"""The interface of changes: values that describe one effect and its entry in the audit log."""

from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeGuard, TypeVar

from gamekeeper.game.codec import ChangeSide, Codec, SubjectIds
from gamekeeper.store.engine import Writing


@dataclass(frozen=True, slots=True)
class Unlogged:
    """An effect that is not recorded in the audit log, such as presence and tokens."""

    effect: Callable[[Writing], Coroutine[Any, Any, None]]


class Change(Protocol):
    """A value that describes one effect and its entry in the audit log. `changes.py` carries it out."""

    @property
    def kind(self) -> str:
        """The kind of the change in the audit log."""
        ...

    def whose(self) -> SubjectIds:
        """Return the player and the account that the change is about."""
        ...

    def sides(self) -> tuple[ChangeSide | None, ChangeSide | None]:
        """Return the state before and after the change."""
        ...

    def carry_out(self, tx: Writing, _: Codec, /) -> None:
        """Write the effect to the tables."""
        ...


class Command(Change, Protocol):
    """A change that game servers must carry out: it has deliveries."""

    @property
    def servers(self) -> Sequence[str]: ...

    @property
    def life_ms(self) -> int | None:
        """Time until the command expires, in ms; None: never."""
        ...


C = TypeVar("C", bound=Command)
_COMMANDS: set[type] = set()


def command(kind: type[C]) -> type[C]:
    """Register a class of changes as commands to the game."""
    _COMMANDS.add(kind)
    return kind


def is_command(change: Change) -> TypeGuard[Command]:
    return type(change) in _COMMANDS
