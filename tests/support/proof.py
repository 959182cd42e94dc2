"""Helpers of the account tests: exact bodies, refusals and rows."""

import json

from gamekeeper.ground.instants import format_instant
from world import Answer, World


def spelt(value: object) -> bytes:
    """Encode JSON as the server does: compact, with the keys in the given order."""
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()


def refused(answer: Answer, status: int, code: str, message: str | None = None) -> None:
    assert (answer.status, answer.code) == (status, code), answer.raw
    if message is not None:
        assert answer.message == message


def rows(world: World, table: str) -> list[str]:
    found = world.sql(f"SELECT * FROM {table}")  # noqa: S608 - the test's own table names
    return sorted(repr(row) for row in found)


def reset_code(world: World, name: str) -> str:
    """Request a reset code and return it, as the mail contains it."""
    assert world.get(f"/api/v1/users/{name}/password/reset").status == 200
    return world.get(f"/api/v1/users/{name}").json["PasswordResetCode"]


def registration_date(world: World, name: str) -> str:
    """Return the account's registration date in the wire format."""
    return format_instant(world.sql("SELECT created_at FROM users WHERE name = $1", name)[0][0])
