"""The keeper: all objects that the rules of the game need. `app.py` makes it; the API and the command line use it."""

from dataclasses import dataclass

from gamekeeper.game.board_follower import BoardFollower
from gamekeeper.game.changes import ChangeApplier
from gamekeeper.game.economy import Economy
from gamekeeper.game.feed import Feed
from gamekeeper.game.key_file import KeyFile
from gamekeeper.game.lists import Lists
from gamekeeper.game.password_queues import PasswordQueues
from gamekeeper.game.passwords import Passwords
from gamekeeper.game.security import FailedGuesses
from gamekeeper.game.signal_checks import SignalChecks
from gamekeeper.settings import Settings
from gamekeeper.store.engine import Store


@dataclass(frozen=True, slots=True)
class Keeper:
    settings: Settings
    store: Store
    changes: ChangeApplier
    passwords: Passwords
    password_queues: PasswordQueues
    feed: Feed
    lists: Lists
    failed_guesses: FailedGuesses
    key_file: KeyFile
    economy: Economy
    boards: BoardFollower
    signal_checks: SignalChecks
