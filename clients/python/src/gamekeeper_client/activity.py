"""Activity over time: players online, active and new players, retention, and play sessions."""

from typing import Literal

from msgspec import Struct

from gamekeeper_client.call import Payload
from gamekeeper_client.operation import operation
from gamekeeper_client.paging import iterate_cursor

ActivityStep = Literal["minute", "hour", "day", "week", "month"]


class PlaySession(Struct, rename="pascal"):
    """A time for which a player was online on a game server; `ended_at` and `seconds` are None while it is."""

    server: str
    started_at: str
    ended_at: str | None
    seconds: int | None


class PlaySessionsPage(Struct, rename="pascal"):
    sessions: list[PlaySession]
    next: str | None


class ActivityPoint(Struct, rename="pascal"):
    """Numbers of one step; None: not kept for steps of this length, or not known for this time."""

    at: str
    online: float | None
    online_max: int | None
    active: int | None
    new: int | None
    returning: int | None
    play_seconds: int | None
    sign_ins: int | None
    requests: int | None
    errors: int | None


class ActivitySeries(Struct, rename={"from_": "From", "to": "To", "step": "Step", "points": "Points"}):
    from_: str
    to: str
    step: str
    points: list[ActivityPoint]


class RetentionCohort(Struct, rename="pascal"):
    """New players of a day, and how many of them were online 1, 7 and 30 days later; None: that day is not over."""

    day: str
    players: int
    day1: int | None
    day7: int | None
    day30: int | None


class Retention(Struct, rename={"from_": "From", "to": "To", "cohorts": "Cohorts"}):
    from_: str
    to: str
    cohorts: list[RetentionCohort]


class ActivityOperations:
    @operation("GET", "/api/keeper/v1/activity")
    def get_activity(
        self, step: ActivityStep | None = None, *, from_: str | None = None, to: str | None = None
    ) -> Payload[ActivitySeries]:
        """Get numbers over time.

        step: length of a point; default hour.
        from_: a time in the first point (`from` in the API); default 48 hours or 30 days before the end, for example.
        to: a time in the last point; default now.
        Returns the points, oldest first.
        Raises BadField, PermissionMissing, TooManyLongReads.
        """
        return Payload(ActivitySeries, query={"step": step, "from": from_, "to": to})

    @operation("GET", "/api/keeper/v1/activity/retention")
    def get_retention(self, *, from_: str | None = None, to: str | None = None) -> Payload[Retention]:
        """Get the new players of each day, and how many of them came back.

        from_: a time on the first day (`from` in the API); default 60 days before the last one.
        to: a time on the last day; default today.
        Returns the days with new players, oldest first.
        Raises BadField, PermissionMissing, TooManyLongReads.
        """
        return Payload(Retention, query={"from": from_, "to": to})

    @operation("GET", "/api/keeper/v1/players/{player}/sessions")
    def list_play_sessions(
        self, player: str, before: str | None = None, *, limit: int | None = None
    ) -> Payload[PlaySessionsPage]:
        """List play sessions of a player once, newest first.

        player: name or id of the player.
        before: cursor; `next` of the page before.
        limit: return at most this many sessions; default 50.
        Returns the sessions, and the cursor for the next page; None at the end.
        Raises NoSuchPlayer, BadField, PermissionMissing.
        """
        return Payload(PlaySessionsPage, query={"before": before, "limit": limit})

    iterate_play_sessions = iterate_cursor(
        list_play_sessions,
        PlaySession,
        lambda page: page.sessions,
        "Iterate over a player's sessions, newest first.",
    )
