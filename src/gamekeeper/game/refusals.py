"""Every way a rule can say no. The docstring is the message; the code for programs is the class's name.

Refusal
├── Malformed                the request itself is wrong
│   ├── BadField             a field has a value it cannot have
│   ├── MissingField
│   ├── RepeatedField
│   ├── BadPassword          not a SHA-256 in hex
│   ├── ReservedName
│   ├── WrongPassword
│   ├── WrongCode            a reset code that is wrong, used or run out
│   └── WrongVariableType
├── Denied                   no token, or not a good one
├── Forbidden
│   ├── RoleMissing  PowerMissing
│   ├── ReadOnlyToken
│   └── Outranked            the other account has more powers
├── NotFound
│   ├── NoSuchPlayer  NoSuchUser  NoSuchItem  NoSuchSpell  NoSuchVariable
│   ├── NoSuchBag  NoSuchToken  NoSuchServer  NoSuchKind
│   ├── NoSuchObjectType  NoSuchObject  NoSuchClass
│   ├── NoSuchChange  NoSuchMail  NotThereThen
│   └── UserNotOnline
├── Conflict                 a rule says no to a well-formed request
│   ├── UsernameTaken  EmailTaken  NameTaken
│   ├── InventoryFull  NotEnoughItems  BagNotEmpty  StackTooLarge  SlotOutOfRange
│   ├── SpellAlreadyKnown  NoFreeSpellSlot  SpellNotKnown
│   ├── PlayerOnline  OwnAccount  OwnPowers
│   ├── AlreadyBanned  AlreadyMuted
│   ├── UnappliedChanges     the game has not heard of all that was done to a character
│   ├── EpochChanged  ChangesTrimmed  CursorAhead
│   ├── HistoryTrimmed  HistoryTooLong
│   ├── ChangedMeanwhile     what was looked at before is not so any more
│   ├── NotUndoable  AlreadyUndone  UndoConflict  ItemMovedOn
│   ├── MailNotRetriable
│   └── IdempotencyInProgress  AnswerErased
├── IdempotencyKeyReused
├── TooManyRequests          wait, and ask again
│   └── TooManyGuesses  TooManyMails  TooManyRegistrations  TooManyLongReads
├── Overloaded               come back in a moment
├── SearchNotReady           come back later, or do without
└── LogInRefusal             what RFC 6749 has its own words for
    ├── InvalidRequest  InvalidGrant
    └── UnsupportedGrantType  UnauthorizedClient  AccountBanned
"""

import re
from collections.abc import Sequence

from gamekeeper.store.feed import FeedRow


class Refusal(Exception):
    """No."""

    retry_after: int | None = None

    def __init__(self, **details: object) -> None:
        message = self.template().format(**details)
        self.message = message.encode("utf-8", "replace").decode()  # half a character may come in, none goes out
        super().__init__(self.message)

    @classmethod
    def template(cls) -> str:
        """The docstring as one line."""
        return " ".join((cls.__doc__ or "").split())

    @property
    def code(self) -> str:
        return re.sub(r"(?<!^)(?=[A-Z])", "_", type(self).__name__).lower()


class Malformed(Refusal):
    """The request is malformed."""


class BadField(Malformed):
    """The field '{field}' {problem}."""


class MissingField(Malformed):
    """The field '{field}' is missing."""


class RepeatedField(Malformed):
    """The field '{field}' is there more than once."""


class BadPassword(Malformed):
    """Did not receive a valid password."""


class ReservedName(Malformed):
    """The name '{name}' is reserved; choose another."""


class WrongPassword(Malformed):
    """Invalid credentials."""


class WrongCode(Malformed):
    """The reset code is wrong, was used, or has run out; ask for a new one."""


class WrongVariableType(Malformed):
    """The variable '{variable}' is of type {type}; the value is not."""


class Denied(Refusal):
    """Authorization has been denied for this request."""


class Forbidden(Refusal):
    """You may not do this."""


class RoleMissing(Forbidden):
    """This needs the role {role}."""


class PowerMissing(Forbidden):
    """This needs the power {power}."""


class Outranked(Forbidden):
    """You do not have the permission to do this."""


class ReadOnlyToken(Forbidden):
    """This token can only read."""


class NotFound(Refusal):
    """There is no such thing."""


class NoSuchPlayer(NotFound):
    """No player with {by} '{key}'."""


class NoSuchUser(NotFound):
    """No user with {by} '{key}'."""


class NoSuchItem(NotFound):
    """Invalid item id."""


class NoSuchSpell(NotFound):
    """Invalid spell id."""


class NoSuchVariable(NotFound):
    """Invalid variable id."""


class NoSuchBag(NotFound):
    """No bag with id '{id}'."""


class NoSuchToken(NotFound):
    """User '{name}' has no token '{id}'."""


class NoSuchServer(NotFound):
    """No game server '{name}' has a lease; PUT /api/link/v1/servers/{name} first."""


class NoSuchObjectType(NotFound):
    """There are no game objects of type '{type}'; ask for item, spell, class, map or playervariable."""


class NoSuchObject(NotFound):
    """There is no {type} with id '{id}'."""


class NoSuchClass(NotFound):
    """Invalid class id."""


class NoSuchKind(NotFound):
    """The catalogue has no kind '{kind}'; it has items, spells, variables, classes and maps."""


class NoSuchChange(NotFound):
    """The ledger has no change {seq}."""


class NoSuchMail(NotFound):
    """No mail with id '{id}'."""


class NotThereThen(NotFound):
    """The player '{key}' was not there at that moment{why}."""


class UserNotOnline(NotFound):
    """User not online!"""


class Conflict(Refusal):
    """A rule says no."""


class UsernameTaken(Conflict):
    """Account already exists with username '{name}'."""


class EmailTaken(Conflict):
    """Account already with email '{email}'."""


class NameTaken(Conflict):
    """A player with name '{name}' exists already."""


class InventoryFull(Conflict):
    """The items do not fit; nothing was given."""


class NotEnoughItems(Conflict):
    """The player has {held} of them in the inventory, fewer than {wanted}; nothing was taken."""


class BagNotEmpty(Conflict):
    """The bag holds items; empty it first. Nothing was taken."""


class StackTooLarge(Conflict):
    """Slot {slot} can hold at most {most} of item '{item}'."""


class SlotOutOfRange(Conflict):
    """There is no slot {slot} in {place}; it has {size} slots, counted from 0."""


class SpellAlreadyKnown(Conflict):
    """The player knows this spell already."""


class NoFreeSpellSlot(Conflict):
    """The player can learn no more spells: all {size} slots are taken."""


class SpellNotKnown(Conflict):
    """The player does not know this spell."""


class PlayerOnline(Conflict):
    """The player is online; try again when they have left."""


class AlreadyBanned(Conflict):
    """{name} has already been banned!"""


class AlreadyMuted(Conflict):
    """{name} has already been muted!"""


class OwnAccount(Conflict):
    """An account cannot {act} itself; let another account do it, or: gamekeeper users {act}"""


class OwnPowers(Conflict):
    """Nobody changes their own powers; let another with users.manage do it, or: gamekeeper users grant {name}"""


class UnappliedChanges(Conflict):
    """There are changes to this character that the game has not applied; apply them, then send AppliedSeq {last}."""

    def __init__(self, changes: Sequence[FeedRow], last: int) -> None:
        super().__init__(last=last)
        self.changes = changes


class EpochChanged(Conflict):
    """The database was restored: this is epoch {epoch}. Ask with after=now, read the characters anew, and follow."""


class ChangesTrimmed(Conflict):
    """Changes up to {trimmed} are no longer kept. Ask with after=now, read the characters anew, and follow."""


class CursorAhead(Conflict):
    """The ledger has not come that far: its last number is {last}."""


class HistoryTrimmed(Conflict):
    """Changes up to {trimmed} are no longer kept, so nobody knows how it was before; choose a later one."""


class HistoryTooLong(Conflict):
    """There are more than {most} changes of this player since then; ask for a later moment."""


class ChangedMeanwhile(Conflict):
    """It has changed since you looked; nothing was done. Look again."""


class NotUndoable(Conflict):
    """A change of the kind {kind} cannot be undone: {why}."""


class AlreadyUndone(Conflict):
    """Change {seq} was undone already, by change {by}."""


class UndoConflict(Conflict):
    """Change {seq} cannot be undone any more: {why}. Nothing was changed."""


class ItemMovedOn(Conflict):
    """
    A game took the item of change {seq}, and {trade} within {minutes} minutes of it. Giving it back may make a second
    one: add `force=true` to undo it all the same. Nothing was changed.
    """


class MailNotRetriable(Conflict):
    """Mail '{id}' cannot be tried again: {fate}. Nothing was changed."""


class IdempotencyInProgress(Conflict):
    """The first request with this Idempotency-Key is still under way; ask again in a moment."""

    retry_after = 1


class AnswerErased(Conflict):
    """This was done, once; its answer was erased with the person whom it was about."""


class IdempotencyKeyReused(Refusal):
    """This Idempotency-Key was used for another request; use a new one."""


class TooManyRequests(Refusal):
    """Too much of this; wait {seconds} seconds."""

    def __init__(self, seconds: int) -> None:
        super().__init__(seconds=seconds)
        self.retry_after = seconds


class TooManyGuesses(TooManyRequests):
    """Too many wrong passwords; wait {seconds} seconds."""


class TooManyMails(TooManyRequests):
    """Too many reset mails were asked for; wait {seconds} seconds."""


class TooManyRegistrations(TooManyRequests):
    """Too many accounts were registered; wait {seconds} seconds."""


class TooManyLongReads(TooManyRequests):
    """Too many long reads of this account wait already; wait {seconds} seconds."""


class Overloaded(Refusal):
    """The server has more to do than it can take on now; ask again in a moment."""

    retry_after = 1


class SearchNotReady(Refusal):
    """Searches wait for an index that is made at the end of an import; the list without a search is there."""

    retry_after = 10


class LogInRefusal(Refusal):
    """The log-in is refused."""

    error: str | None = None  # RFC 6749's word for it, where that is not the code


class InvalidRequest(LogInRefusal):
    """{problem}"""


class InvalidGrant(LogInRefusal):
    """The user name or password is wrong, or the refresh token is not good any more."""


class UnsupportedGrantType(LogInRefusal):
    """The grant type must be password or refresh_token."""


class UnauthorizedClient(LogInRefusal):
    """This account has no API access; grant it with: gamekeeper users api {name} on"""


class AccountBanned(LogInRefusal):
    """The account '{name}' is banned; it gets no token until the ban ends."""

    error = "unauthorized_client"
