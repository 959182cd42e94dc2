"""Every write of accounts and tokens accepts Idempotency-Key, ?dryRun=true and X-Reason, and is recorded."""

import json
import re
from collections.abc import Mapping
from typing import NamedTuple

import pytest

import people
from expectations import everything
from loops import collecting
from proof import reset_code, rows
from token_pairs import log_in
from world import NEW, SENT, TOKEN, USERS, MakeWorld, World

TOKENS = "/api/oauth/tokens"
PREFIXED = re.compile(r"[0-9a-f]{64}|\$argon2", re.IGNORECASE)
REASON = "asked for by mail, café № 4711".ljust(500, "!")
KEY = {"Idempotency-Key": "k1"}
EMAIL = f"{USERS}/Ann/manage/email/change"


class Write(NamedTuple):
    """A write request that will succeed once, and what the audit log says of it."""

    route: str
    user: str
    body: Mapping[str, object] | None
    kind: str | None  # the kind of change in the audit log; None: writes of tokens are not recorded there
    secret: str = ""  # field that the audit log shows as "changed"

    @property
    def method(self) -> str:
        return self.route.partition(" ")[0]


USER = f"{USERS}/[lookupKey]"
WRITES = (
    Write(
        f"POST {USERS}/register",
        "Newbie",
        {"username": "Newbie", "password": NEW, "email": "newbie@example.test"},
        "user_registered",
        "Password",
    ),
    Write(f"POST {USER}/email/change", "Ann", {"new": "ann@new.test", "authorization": SENT}, "email_changed"),
    Write(f"POST {USER}/password/change", "Ann", {"new": NEW, "authorization": SENT}, "password_changed", "Password"),
    Write(f"GET {USER}/password/reset", "Ann", None, "reset_requested", "PasswordResetCode"),
    Write(f"POST {USER}/manage/email/change", "Bob", {"new": "bob@new.test"}, "email_changed"),
    Write(f"POST {USER}/manage/password/change", "Bob", {"new": NEW}, "password_changed", "Password"),
    Write(f"POST {USER}/password/reset", "Mona", {"new": NEW}, "password_changed", "Password"),
    Write(f"POST {USER}/name", "Mona", {"name": "Monica"}, "user_renamed"),
    *(
        Write(f"DELETE {route}/[username]{rest}", "Clerk", None, None)
        for route in (TOKEN, TOKENS)
        for rest in ("", "/[tokenId]")
    ),
)


def prepare(world: World, write: Write) -> tuple[str, dict[str, object] | None]:
    """Return path and body of the request, after what it needs: a reset code, or a token."""
    body = dict(write.body) if write.body else None
    if body and write.route == f"POST {USER}/password/reset":
        body["code"] = reset_code(world, write.user)
    path = re.sub(r"\[(lookupKey|username)\]", write.user, write.route.partition(" ")[2])
    if write.kind is None:
        log_in(world, write.user)
        valid = "SELECT id FROM tokens WHERE user_id = $1 AND revoked_at IS NULL"
        path = path.replace("[tokenId]", str(world.sql(valid, people.USER_IDS[write.user])[0][0]))
    return path, body


def require_no_secret(world: World, body: Mapping[str, object]) -> None:
    """Require that the audit log and the stored answers contain no secret of a request."""
    found = world.sql("SELECT code FROM resets")
    secrets = [SENT, NEW, str(body.get("code", SENT)), *(str(row[0]) for row in found)]
    kept = world.sql("SELECT key, answer FROM idempotency_keys")
    assert not PREFIXED.search(repr([entry[:2] + entry[8:] for entry in world.ledger()]) + repr(kept))
    stored = repr(rows(world, "ledger") + rows(world, "idempotency_keys"))
    assert not [secret for secret in secrets if secret in stored]


@pytest.mark.both_engines
def test_write_is_tried_applied_once_by_eight_requests_and_recorded(make_world: MakeWorld) -> None:
    worlds = make_world(), make_world()
    with collecting() as case:
        for number, write in enumerate(WRITES):
            with case(write.route):
                try_apply_and_repeat(worlds, write, f"{number}".ljust(255, "k"))


def try_apply_and_repeat(worlds: tuple[World, World], write: Write, key: str) -> None:
    world = worlds[0]
    path, body = prepare(world, write)
    before, entries, mails = everything(world, without="known_callers"), world.ledger(), rows(world, "mails")

    headers = {"Idempotency-Key": key, "X-Reason": REASON}
    tried = [
        world.call(write.method, path + query, body=body, headers=headers) for query in ("?dryRun=true", "?DRYRUN=True")
    ]
    # known_callers is excluded: a dry run with the right password marks its caller as known
    assert everything(world, without="known_callers") == before

    calls = [each.send(write.method, f"{path}?dryRun=false", body=body, headers=headers) for each in worlds * 4]
    answers = world.at_once(calls)
    assert {(answer.status, answer.raw) for answer in (*answers, *tried)} == {(200, answers[0].raw)}
    assert sum("idempotent-replay" in answer.headers for answer in answers) == 7
    assert len(rows(world, "mails")) == len(mails) + (write.kind == "reset_requested")
    done = everything(world, without="known_callers")
    assert {table for table in done if done[table] != before[table]} > {"idempotency_keys"}
    assert len(done["idempotency_keys"]) == len(before["idempotency_keys"]) + 1
    require_no_secret(world, body or {})
    written = world.ledger()[len(entries) :]
    assert [entry.kind for entry in written] == [write.kind] * (write.kind is not None)
    first = next(answer for answer in answers if "idempotent-replay" not in answer.headers)
    for entry in written:
        assert (entry.reason, entry.request_id) == (REASON, first.headers["x-request-id"])
        assert (entry.actor_id, entry.over_link, entry.player_id) == (people.USER_IDS["Root"], False, None)
        assert world.sql("SELECT user_id FROM tokens WHERE id = $1", entry.token_id) == [(people.USER_IDS["Root"],)]
        newbie = "SELECT id FROM users WHERE name = 'Newbie'"
        assert entry.user_id == (people.USER_IDS.get(write.user) or world.sql(newbie)[0][0])
        assert not write.secret or json.loads(entry.after or "")[write.secret] == "changed"

    assert (
        "idempotent-replay" not in world.call(write.method, f"{path}?dryRun=true", headers=headers, body=body).headers
    )


def test_secrets_are_neither_fingerprinted_nor_stored(world: World) -> None:
    """Another password under the same key counts as the same request, so a stored answer cannot confirm a guess."""
    body = {"grant_type": "password", "username": "Root", "password": SENT}
    tokens = {world.post(TOKEN, body, by=None, headers=KEY).json["access_token"] for _ in range(2)}
    assert len(tokens) == 2
    for password, status in ((SENT, 200), (NEW, 400)):
        validate = world.post(f"{USERS}/Ann/password/validate", {"password": password}, headers=KEY)
        assert (validate.status, "idempotent-replay" in validate.headers) == (status, False)
    assert not rows(world, "idempotency_keys")
    first, again = (world.post(f"{USERS}/Ann/manage/password/change", {"new": new}, headers=KEY) for new in (NEW, SENT))
    assert (again.raw, again.headers["idempotent-replay"]) == (first.raw, "true")
    # setting the same address again keeps the reset code valid, but the stored answer must not contain the code
    code = reset_code(world, "Ann")
    answer = world.post(EMAIL, {"new": "ann@example.test"}, headers={"Idempotency-Key": "k2"})
    assert (answer.status, answer.json["PasswordResetCode"]) == (200, None)
    assert code not in repr(rows(world, "idempotency_keys"))
    assert world.get(f"{USERS}/Ann").json["PasswordResetCode"] == code
