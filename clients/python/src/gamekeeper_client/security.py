"""The security log: sign-ins, failed guesses, and changes of credentials and roles."""

from msgspec import UNSET, Struct, UnsetType

from gamekeeper_client.call import Payload
from gamekeeper_client.operation import operation
from gamekeeper_client.paging import iterate_cursor


class EventDetails(Struct, rename="pascal"):
    """Details of an event; each kind has some of these fields."""

    count: int | UnsetType = UNSET
    session: bool | UnsetType = UNSET
    sessions: bool | UnsetType = UNSET
    read_only: bool | UnsetType = UNSET
    second_factor: bool | UnsetType = UNSET
    by: str | UnsetType = UNSET
    given: list[str] | UnsetType = UNSET
    taken: list[str] | UnsetType = UNSET
    before: list[str] | UnsetType = UNSET
    after: list[str] | UnsetType = UNSET
    role: str | UnsetType = UNSET
    added: list[str] | UnsetType = UNSET
    removed: list[str] | UnsetType = UNSET
    deleted: bool | UnsetType = UNSET
    approval_id: str | UnsetType = UNSET
    rule: str | UnsetType = UNSET
    kept: list[str] | UnsetType = UNSET
    changed: list[str] | UnsetType = UNSET


class SecurityEvent(Struct, rename="pascal"):
    """An event; `user` is the account that it is about, `by` the account that caused it."""

    id: str
    at: str
    kind: str
    user_id: str | None
    user: str | None
    actor_id: str | None
    by: str | None
    address: str | None
    browser: str | None
    credential_id: str | None
    details: EventDetails | None


class SecurityPage(Struct, rename="pascal"):
    events: list[SecurityEvent]
    next: str | None


class Security:
    @operation("GET", "/api/keeper/v1/security")
    def list_security_events(
        self,
        before: str | None = None,
        *,
        user: str | None = None,
        kind: str | None = None,
        from_: str | None = None,
        to: str | None = None,
        limit: int | None = None,
    ) -> Payload[SecurityPage]:
        """List events of the security log once, newest first.

        before: cursor; `next` of the page before.
        user: only events about the account with this name or id.
        kind: only events of this kind, such as sign_in.
        from_: only events at or after this time (`from` in the API), such as 2026-01-31T12:00:00Z.
        to: only events up to this time.
        limit: return at most this many events; default 50.
        Returns the events, and the cursor for the next page; None at the end.
        Raises BadField, RoleMissing, PermissionMissing, NoSuchUser, TooManyLongReads.
        """
        query = {"user": user, "kind": kind, "from": from_, "to": to, "before": before, "limit": limit}
        return Payload(SecurityPage, query=query)

    iterate_security_events = iterate_cursor(
        list_security_events, SecurityEvent, lambda page: page.events, "Iterate over the security log, newest first."
    )
