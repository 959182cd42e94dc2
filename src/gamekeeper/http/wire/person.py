"""JSON shape of all data of a person, as `gamekeeper users export` writes it."""

from typing import Any

from msgspec import Struct

from gamekeeper.http.wire.users import Power, UserRecord

Rows = list[dict[str, Any]]


class Person(Struct):
    account: UserRecord[Power]
    characters: Rows = []
    texts: Rows = []
    guilds: Rows = []
    penalties: Rows = []
    roles: Rows = []
    api_keys: Rows = []
    second_factors: Rows = []
    recovery_codes: Rows = []
    identities: Rows = []
    mails: Rows = []
    callers: Rows = []
    approvals: Rows = []
    bulk_jobs: Rows = []
    bulk_targets: Rows = []
    notes: Rows = []
    tags: Rows = []
    saved_views: Rows = []
    standings: Rows = []
    signals: Rows = []
    addresses: Rows = []
    log_addresses: Rows = []
    leftovers: Rows = []
    tokens: Rows = []
    security: Rows = []
    activity: Rows = []
    trades: Rows = []
    play_sessions: Rows = []
    play_time: Rows = []
    changes: Rows = []
