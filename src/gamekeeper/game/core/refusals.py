"""Every refusal of a request. The docstring of a class is the message; its name in snake case is the `Code`.

Refusal
├── Malformed                the request itself is wrong
│   ├── BadField             a field has a value it cannot have
│   ├── MissingField
│   ├── RepeatedField
│   ├── BadPassword          not a SHA-256 in hex
│   ├── ReservedName
│   ├── WrongPassword
│   ├── WrongCode            a reset code that is wrong, used or expired
│   └── WrongVariableType
├── Denied                   no token, or an invalid one
├── Forbidden
│   ├── RoleMissing  PowerMissing  ReadOnlyToken
│   └── Outranked            the other account has more powers
├── NotFound
│   ├── NoSuchPlayer  NoSuchUser  NoSuchItem  NoSuchSpell  NoSuchVariable
│   ├── NoSuchBag  NoSuchToken  NoSuchServer  NoSuchKind  NoSuchObjectType  NoSuchObject  NoSuchClass
│   ├── NoSuchChange  NoSuchMail   NotThereThen
│   └── UserNotOnline
├── Conflict                 a rule refuses a well-formed request
│   ├── UsernameTaken  EmailTaken  NameTaken
│   ├── InventoryFull  NotEnoughItems  BagNotEmpty  StackTooLarge  SlotOutOfRange
│   ├── SpellAlreadyKnown  NoFreeSpellSlot  SpellNotKnown
│   ├── PlayerOnline  OwnAccount  OwnPowers
│   ├── AlreadyBanned  AlreadyMuted
│   ├── UnappliedChanges     the game server has not applied all changes of a player
│   ├── EpochChanged  ChangesTrimmed  CursorAhead
│   ├── HistoryTrimmed  HistoryTooLong
│   ├── ChangedMeanwhile     the state differs from the caller's preview
│   ├── MailNotRetriable
│   └── IdempotencyInProgress  AnswerErased
├── IdempotencyKeyReused
├── TooManyRequests          retry after a wait
│   └── TooManyGuesses  TooManyMails  TooManyRegistrations  TooManyLongReads
├── Overloaded               retry in a moment
├── SearchNotReady           retry later, or list without a search
└── LogInRefusal             errors with codes of RFC 6749
    ├── InvalidRequest  InvalidGrant
    └── UnsupportedGrantType  UnauthorizedClient  AccountBanned

The refusals of a room are in its `refusals.py`, such as `game/access/refusals.py`.
"""

import re
from collections.abc import Sequence

from gamekeeper.store.world.feed import FeedRow


class Refusal(Exception):
    """Base class of all refusals."""

    retry_after: int | None = None

    def __init__(self, **details: object) -> None:
        message = self.template().format(**details)
        # a message with a lone surrogate from the request could not be encoded in the answer
        self.message = message.encode("utf-8", "replace").decode()
        super().__init__(self.message)

    @classmethod
    def template(cls) -> str:
        """Return the docstring as one line."""
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
    """The field '{field}' occurs more than once; send it once."""


class BadPassword(Malformed):
    """Did not receive a valid password."""


class ReservedName(Malformed):
    """The name '{name}' is reserved; choose another."""


class WrongPassword(Malformed):
    """Invalid credentials."""


class WrongCode(Malformed):
    """The reset code is wrong, was used, or has expired; request a new one."""


class WrongVariableType(Malformed):
    """The variable '{variable}' is of type {type}, but the value is not; send a value of this type."""


class Denied(Refusal):
    """Authorization has been denied for this request."""

    def __init__(self, reason: str = "") -> None:
        """`reason`: why the token does not work, for the header WWW-Authenticate; empty: there is none."""
        super().__init__()
        self.reason = reason


class Forbidden(Refusal):
    """You do not have permission to do this."""


class RoleMissing(Forbidden):
    """This needs the permission {role}. Ask an administrator for a role that has it."""


class PowerMissing(Forbidden):
    """This needs the permission {power}. Ask an administrator to grant it."""


class Outranked(Forbidden):
    """{problem}"""


class ReadOnlyToken(Forbidden):
    """{problem}"""


class NotFound(Refusal):
    """The requested object does not exist."""


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
    """There are no game objects of type '{type}'; use item, spell, class, map, playervariable, animation, npc,
    projectile, quest, resource, shop, crafttables, crafts, event, tileset, uservariable, servervariable or
    guildvariable.
    """


class NoSuchObject(NotFound):
    """There is no {type} with id '{id}'."""


class NoSuchClass(NotFound):
    """Invalid class id."""


class NoSuchKind(NotFound):
    """The catalogue has no kind '{kind}'; use items, spells, variables, classes or maps."""


class NoSuchChange(NotFound):
    """The audit log has no change {seq}."""


class NoSuchMail(NotFound):
    """No mail with id '{id}'."""


class NotThereThen(NotFound):
    """The player '{key}' did not exist at that time{why}."""


class UserNotOnline(NotFound):
    """User not online!"""


class Conflict(Refusal):
    """The request conflicts with the present state."""


class UsernameTaken(Conflict):
    """Account already exists with username '{name}'."""


class EmailTaken(Conflict):
    """Account already with email '{email}'.{advice}"""


class NameTaken(Conflict):
    """A player with name '{name}' already exists; choose another name."""


class InventoryFull(Conflict):
    """The items do not fit into the {place}: there is room for {room} of {wanted}. Nothing was given."""


class NotEnoughItems(Conflict):
    """The player has only {held} of this item in the inventory, not {wanted}. Nothing was taken."""


class BagNotEmpty(Conflict):
    """The bag is not empty; empty it first. Nothing was taken."""


class StackTooLarge(Conflict):
    """Slot {slot} can hold at most {most} of item '{item}'."""


class SlotOutOfRange(Conflict):
    """Slot {slot} does not exist in {place}, which has {size} slots, counted from 0."""


class SpellAlreadyKnown(Conflict):
    """The player already knows this spell."""


class NoFreeSpellSlot(Conflict):
    """The player cannot learn more spells: all {size} spell slots are used. Let the player forget one first."""


class SpellNotKnown(Conflict):
    """The player does not know this spell."""


class PlayerOnline(Conflict):
    """The player is online; retry after the player has left the game."""


class AlreadyBanned(Conflict):
    """{name} has already been banned!"""


class AlreadyMuted(Conflict):
    """{name} has already been muted!"""


class OwnAccount(Conflict):
    """An account cannot {act} itself; use another account, or run: gamekeeper users {command}"""

    def __init__(self, *, act: str) -> None:
        super().__init__(act=act, command=act)


class OwnPowers(Conflict):
    """An account cannot change its own permissions; use another account, or run: gamekeeper users grant {name}"""


class UnappliedChanges(Conflict):
    """The game server has not applied all changes to this player; apply them, then send AppliedSeq {last}."""

    def __init__(self, changes: Sequence[FeedRow], last: int) -> None:
        super().__init__(last=last)
        self.changes = changes


class EpochChanged(Conflict):
    """The database was restored: its epoch is now {epoch}. Request after=now, read the players again, then follow."""


class ChangesTrimmed(Conflict):
    """Changes up to {trimmed} were deleted. Request after=now, read the players again, then follow."""


class CursorAhead(Conflict):
    """The cursor is beyond the last change, which has number {last}; use a cursor that the server sent."""


class HistoryTrimmed(Conflict):
    """Changes up to {trimmed} were deleted, so the state before them is unknown; choose a later change or time."""


class HistoryTooLong(Conflict):
    """This player has more than {most} changes since then, too many to revert; choose a later time."""


class ChangedMeanwhile(Conflict):
    """The state has changed since your preview. Nothing was changed; make a new preview."""


class MailNotRetriable(Conflict):
    """Mail '{id}' cannot be sent again: {fate}. Nothing was changed."""


class IdempotencyInProgress(Conflict):
    """The first request with this Idempotency-Key is still running; retry in a moment."""

    retry_after = 1


class AnswerErased(Conflict):
    """The request was already carried out once, but its answer was erased with the account that it was about."""


class IdempotencyKeyReused(Refusal):
    """This Idempotency-Key was used for another request; use a new key."""


class TooManyRequests(Refusal):
    """Too many requests; wait {seconds} seconds."""

    def __init__(self, seconds: int) -> None:
        super().__init__(seconds=seconds)
        self.retry_after = seconds


class TooManyGuesses(TooManyRequests):
    """Too many wrong passwords; wait {seconds} seconds."""


class TooManyMails(TooManyRequests):
    """Too many reset mails were requested; wait {seconds} seconds."""


class TooManyRegistrations(TooManyRequests):
    """Too many accounts were registered; wait {seconds} seconds."""


class TooManyLongReads(TooManyRequests):
    """Too many long reads of this account are waiting; wait {seconds} seconds."""


class Overloaded(Refusal):
    """The server is overloaded; retry in a moment."""

    retry_after = 1


class SearchNotReady(Refusal):
    """The search index is built at the end of an import; retry later, or use the list without a search."""

    retry_after = 10


class LogInRefusal(Refusal):
    """The log-in was refused."""

    error: str | None = None  # the OAuth error code (RFC 6749), if it differs from `code`


class InvalidRequest(LogInRefusal):
    """{problem}"""


class InvalidGrant(LogInRefusal):
    """The user name or password is wrong, or the refresh token is no longer valid."""


class UnsupportedGrantType(LogInRefusal):
    """The grant type must be password or refresh_token."""


class UnauthorizedClient(LogInRefusal):
    """This account has no API access; grant it with: gamekeeper users api {name} on"""


class AccountBanned(LogInRefusal):
    """The account '{name}' is banned; it gets no token until the ban ends."""

    error = "unauthorized_client"


class WrongValueType(Malformed):
    """Invalid value for variable of type {type}. Received: {received}"""
