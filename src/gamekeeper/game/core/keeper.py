"""The keeper: all objects that the rules of the game need. `app.py` makes it; the API and the command line use it."""

from dataclasses import dataclass

from gamekeeper.game.access.guesses import PasswordQueues
from gamekeeper.game.access.key_file import KeyFile
from gamekeeper.game.access.passwords import Passwords
from gamekeeper.game.access.security_log import FailedGuesses
from gamekeeper.game.core.writes import ChangeApplier
from gamekeeper.game.insight.board_follower import BoardFollower
from gamekeeper.game.insight.economy import Economy
from gamekeeper.game.insight.signal_watch import SignalChecks
from gamekeeper.game.lists.ordered_lists import Lists
from gamekeeper.game.world.feed import Feed
from gamekeeper.ground.settings import Settings
from gamekeeper.store.engine.interface import Store


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
