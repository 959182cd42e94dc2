"""Every write of accounts and tokens accepts Idempotency-Key, ?dryRun=true and X-Reason, and is recorded."""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import pytest

import people
from expectations import everything
from gamekeeper.game.passwords import hash_for_wire
from gamekeeper.http.operation import WRITE
from gamekeeper.http.routes import ROUTES
from proof import at_once, refused, reset_code, rows
from tidying import tidy
from world import SENT, Answer, World

USERS, TOKEN, TOKENS = "/api/v1/users", "/api/oauth/token", "/api/oauth/tokens"
NEW = hash_for_wire("battery staple")
OURS = ("/api/v1/users", "/api/oauth")
PREFIXED = re.compile(r"[0-9a-f]{64}|\$argon2", re.IGNORECASE)


@dataclass(frozen=True)
class Ready:
    """A write request that will succeed, on an account prepared for it."""

    path: str
    body: Mapping[str, object] | None = None


@dataclass(frozen=True)
class Write:
    ready: Callable[[World], Ready]
    kind: str | None  # the kind of change in the audit log; None: writes of tokens are not recorded there


def plain(path: str, **body: object) -> Callable[[World], Ready]:
    return lambda _: Ready(path, body or None)


def with_code(world: World) -> Ready:
    return Ready(f"{USERS}/Ann/password/reset", {"code": reset_code(world, "Ann"), "new": NEW})


def one_token(route: str) -> Callable[[World], Ready]:
    def ready(world: World) -> Ready:
        issued = world.sql("SELECT id FROM tokens WHERE user_id = $1", people.USER_IDS["Shop"])
        return Ready(f"{route}/Shop/{issued[0][0]}")

    return ready


WRITES: Mapping[tuple[str, str], Write] = {
    ("POST", f"{USERS}/register"): Write(
        plain(f"{USERS}/register", username="Newbie", password=NEW, email="newbie@example.test"), "user_registered"
    ),
    ("POST", f"{USERS}/[lookupKey]/email/change"): Write(
        plain(f"{USERS}/Ann/email/change", new="ann@new.test", authorization=SENT), "email_changed"
    ),
    ("POST", f"{USERS}/[lookupKey]/password/change"): Write(
        plain(f"{USERS}/Ann/password/change", new=NEW, authorization=SENT), "password_changed"
    ),
    ("GET", f"{USERS}/[lookupKey]/password/reset"): Write(plain(f"{USERS}/Ann/password/reset"), "reset_requested"),
    ("POST", f"{USERS}/[lookupKey]/manage/email/change"): Write(
        plain(f"{USERS}/Ann/manage/email/change", new="ann@new.test"), "email_changed"
    ),
    ("POST", f"{USERS}/[lookupKey]/manage/password/change"): Write(
        plain(f"{USERS}/Ann/manage/password/change", new=NEW), "password_changed"
    ),
    ("POST", f"{USERS}/[lookupKey]/password/reset"): Write(with_code, "password_changed"),
    ("POST", f"{USERS}/[lookupKey]/name"): Write(plain(f"{USERS}/Ann/name", name="Annie"), "user_renamed"),
    ("DELETE", f"{TOKEN}/[username]"): Write(plain(f"{TOKEN}/Shop"), None),
    ("DELETE", f"{TOKEN}/[username]/[tokenId]"): Write(one_token(TOKEN), None),
    ("DELETE", f"{TOKENS}/[username]"): Write(plain(f"{TOKENS}/Shop"), None),
    ("DELETE", f"{TOKENS}/[username]/[tokenId]"): Write(one_token(TOKENS), None),
}
LOG_IN = ("POST", TOKEN)  # the log-in accepts neither an idempotency key nor a dry run nor a reason
ERASE = ("DELETE", f"{USERS}/[lookupKey]")  # the erasure of an account, which test_erasing.py tests
IDS = [f"{method} {path}".replace("[", "{").replace("]", "}") for method, path in WRITES]
every_write = pytest.mark.parametrize("write", WRITES, ids=IDS)


def send(world: World, write: tuple[str, str], ready: Ready, query: str = "", **headers: str) -> Answer:
    spelt = {name.replace("_", "-"): value for name, value in headers.items()}
    return world.call(write[0], ready.path + query, body=ready.body, headers=spelt)


def test_table_lists_every_write_of_accounts_and_tokens() -> None:
    rows = [row for row in ROUTES if row.access is WRITE and row.path.startswith(OURS)]
    # without the writes of moderation (bans, mutes, kicks) under /admin/, which test_moderation.py tests
    written = {(row.method, row.path) for row in rows if "/admin/" not in row.path}
    assert written == {*WRITES, LOG_IN, ERASE}


# --- Idempotency-Key -----------------------------------------------------------------------------------------------


@every_write
def test_repeated_key_replays_the_first_answer_and_refuses_another_request(
    world: World, write: tuple[str, str]
) -> None:
    ready = WRITES[write].ready(world)
    before = everything(world)
    for key in ("", " ", "two words", "k" * 256, "ünï", "tab\tbed"):
        answer = send(world, write, ready, Idempotency_Key=key)
        refused(answer, 400, "bad_field")
        assert "'Idempotency-Key'" in answer.message
    assert everything(world) == before

    key = "k" * 255
    first = send(world, write, ready, Idempotency_Key=key)
    assert (first.status, "idempotent-replay" in first.headers) == (200, False)
    done = everything(world)
    assert len(done["ledger"]) == len(before["ledger"]) + (WRITES[write].kind is not None)
    require_no_secret(world, ready)
    again = send(world, write, ready, Idempotency_Key=key)
    assert (again.status, again.raw, again.headers["idempotent-replay"]) == (200, first.raw, "true")
    other = Ready(f"{USERS}/Mona/manage/email/change", {"new": "mona@new.test"})
    refused(send(world, ("POST", other.path), other, Idempotency_Key=key), 422, "idempotency_key_reused")
    elsewhere = Ready(ready.path.replace("Ann", "Bob").replace("Shop", "Clerk"), _other(ready.body))
    refused(send(world, write, elsewhere, Idempotency_Key=key), 422, "idempotency_key_reused")
    assert everything(world) == done


def require_no_secret(world: World, ready: Ready) -> None:
    """Require that the audit log and the stored answers contain no secret of a request."""
    found = world.sql("SELECT code FROM resets")
    secrets = [SENT, NEW, str((ready.body or {}).get("code", SENT)), *(str(row[0]) for row in found)]
    kept = world.sql("SELECT key, answer FROM idempotency_keys")
    text = repr([entry[:2] + entry[8:] for entry in world.ledger()]) + repr(kept)
    assert not PREFIXED.search(text)
    stored = repr(rows(world, "ledger") + rows(world, "idempotency_keys"))
    assert not [secret for secret in secrets if secret in stored]


def _other(body: Mapping[str, object] | None) -> Mapping[str, object] | None:
    return body and {**body, **({"username": "Other"} if "username" in body else {})}


@every_write
def test_eight_concurrent_requests_with_one_key_apply_once(
    make_world: Callable[..., World], write: tuple[str, str]
) -> None:
    first, second = make_world(), make_world()
    ready = WRITES[write].ready(first)
    entries, mails = len(first.ledger()), len(rows(first, "mails"))
    calls = [
        world.send(write[0], ready.path, body=ready.body, headers={"Idempotency-Key": "k1"})
        for world in (first, second) * 4
    ]
    answers = at_once(first, calls)
    assert {(answer.status, answer.raw) for answer in answers} == {(200, answers[0].raw)}
    assert sum("idempotent-replay" in answer.headers for answer in answers) == 7
    assert len(first.ledger()) == entries + (WRITES[write].kind is not None)
    assert len(rows(first, "mails")) == mails + (WRITES[write].kind == "reset_requested")
    assert len(rows(first, "idempotency_keys")) == 1


def test_keys_are_scoped_by_account_and_not_by_token(world: World) -> None:
    register = WRITES["POST", f"{USERS}/register"].ready(world)
    log_in = {"grant_type": "password", "username": "Root", "password": SENT}
    token = world.post(TOKEN, log_in, by=None).json["access_token"]
    key = {"Idempotency-Key": "k1"}
    first = world.post(register.path, register.body, headers=key)
    again = world.post(register.path, register.body, headers=key, token=token)
    assert (again.raw, again.headers["idempotent-replay"]) == (first.raw, "true")
    refused(world.post(register.path, register.body, headers=key, by="Clerk"), 409, "username_taken")


def test_replay_requires_token_and_role(world: World) -> None:
    change = WRITES["POST", f"{USERS}/[lookupKey]/manage/email/change"].ready(world)
    key = {"Idempotency-Key": "k1"}
    assert world.post(change.path, change.body, headers=key).status == 200
    refused(world.post(change.path, change.body, headers=key, by=None), 401, "denied")
    refused(world.post(change.path, change.body, headers=key, by="Clerk"), 403, "role_missing")


def test_failed_request_does_not_store_its_key(world: World) -> None:
    key = {"Idempotency-Key": "k1"}
    taken = {"new": "bob@example.test"}
    refused(world.post(f"{USERS}/Ann/manage/email/change", taken, headers=key), 409, "email_taken")
    assert not rows(world, "idempotency_keys")
    assert world.post(f"{USERS}/Bob/manage/email/change", {"new": "bob@new.test"}).status == 200
    answer = world.post(f"{USERS}/Ann/manage/email/change", taken, headers=key)
    assert (answer.status, "idempotent-replay" in answer.headers) == (200, False)


def test_keys_are_deleted_after_thirty_days(world: World) -> None:
    reset = WRITES["GET", f"{USERS}/[lookupKey]/password/reset"].ready(world)
    assert world.get(reset.path, headers={"Idempotency-Key": "k1"}).status == 200
    for days, kept in ((29, 1), (2, 0)):
        world.sql("UPDATE idempotency_keys SET at = at - $1", days * 86_400_000)
        tidy(world)
        assert len(rows(world, "idempotency_keys")) == kept


def test_fingerprint_of_a_request_excludes_secrets(world: World) -> None:
    """Another password under the same key counts as the same request, so a stored answer cannot confirm a guess."""
    path, key = f"{USERS}/Ann/manage/password/change", {"Idempotency-Key": "k1"}
    first = world.post(path, {"new": NEW}, headers=key)
    again = world.post(path, {"new": SENT}, headers=key)
    assert (again.raw, again.headers["idempotent-replay"]) == (first.raw, "true")


def test_log_in_and_validation_ignore_keys(world: World) -> None:
    key = {"Idempotency-Key": "k1"}
    body = {"grant_type": "password", "username": "Root", "password": SENT}
    tokens = {world.post(TOKEN, body, by=None, headers=key).json["access_token"] for _ in range(2)}
    assert len(tokens) == 2
    for password, status in ((SENT, 200), (NEW, 400)):
        validate = world.post(f"{USERS}/Ann/password/validate", {"password": password}, headers=key)
        assert (validate.status, "idempotent-replay" in validate.headers) == (status, False)
    assert not rows(world, "idempotency_keys")


# --- ?dryRun=true --------------------------------------------------------------------------------------------------


@every_write
def test_a_dry_run_answers_what_would_happen_and_neither_changes_anything_nor_uses_keys(
    world: World, write: tuple[str, str]
) -> None:
    ready = WRITES[write].ready(world)
    # known_callers is excluded: a dry run with the right password marks its caller as known
    before = everything(world, without="known_callers")
    for query in ("?dryRun=1", "?dryRun=", "?dryRun=yes"):
        refused(send(world, write, ready, query), 400, "bad_field", "The field 'dryRun' must be true or false.")
    refused(send(world, write, ready, "?dryRun=true&dryrun=false"), 400, "repeated_field")
    tried = [send(world, write, ready, query, Idempotency_Key="k1") for query in ("?dryRun=true", "?DRYRUN=True")]
    assert everything(world, without="known_callers") == before
    real = send(world, write, ready, "?dryRun=false", Idempotency_Key="k1")
    assert "idempotent-replay" not in real.headers
    assert [(answer.status, answer.raw) for answer in tried] == [(200, real.raw)] * 2
    done = everything(world, without="known_callers")
    assert {table for table in done if done[table] != before[table]} > {"idempotency_keys"}
    again = send(world, write, ready, "?dryRun=true", Idempotency_Key="k1")
    assert "idempotent-replay" not in again.headers


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("register", {"username": "Ann", "password": NEW, "email": "new@example.test"}, 409),
        ("Ann/manage/email/change", {"new": "bob@example.test"}, 409),
        ("Nobody/manage/password/change", {"new": NEW}, 404),
        ("Ann/manage/email/change", {"new": "nonsense"}, 400),
    ],
)
def test_dry_run_is_refused_like_the_real_request(world: World, path: str, body: object, status: int) -> None:
    tried, real = (world.post(f"{USERS}/{path}{query}", body) for query in ("?dryRun=true", ""))
    assert (tried.status, tried.code, tried.message) == (real.status, real.code, real.message)
    assert real.status == status


# --- audit log and X-Reason ----------------------------------------------------------------------------------------


@every_write
def test_audit_log_records_actor_change_and_reason(world: World, write: tuple[str, str]) -> None:
    ready = WRITES[write].ready(world)
    unchanged, before = everything(world), world.ledger()
    for reason in ("r" * 501, "line\x0bfeed", "esc\x1b[2J"):
        answer = send(world, write, ready, X_Reason=reason)
        refused(answer, 400, "bad_field")
        assert "'X-Reason'" in answer.message
    assert everything(world) == unchanged

    reason = "asked for by mail, café № 4711".ljust(500, "!")
    answer = send(world, write, ready, X_Reason=reason)
    assert answer.status == 200
    written = world.ledger()[len(before) :]
    assert [entry.kind for entry in written] == [WRITES[write].kind] * (WRITES[write].kind is not None)
    for entry in written:
        assert (entry.reason, entry.request_id) == (reason, answer.headers["x-request-id"])
        assert (entry.actor_id, entry.over_link, entry.player_id) == (people.USER_IDS["Root"], False, None)
        assert world.sql("SELECT user_id FROM tokens WHERE id = $1", entry.token_id) == [(people.USER_IDS["Root"],)]
        assert entry.user_id == _target(world, write)


def _target(world: World, write: tuple[str, str]) -> str:
    return world.get(f"{USERS}/Newbie").json["Id"] if write[1].endswith("register") else people.USER_IDS["Ann"]


def test_audit_log_records_before_and_after(world: World) -> None:
    change = WRITES["POST", f"{USERS}/[lookupKey]/manage/email/change"].ready(world)
    assert world.post(change.path, change.body).status == 200
    entry = world.ledger()[-1]
    assert json.loads(entry.before or "") == {"Email": "ann@example.test"}
    assert json.loads(entry.after or "") == {"Email": "ann@new.test"}


@pytest.mark.parametrize("kind", ["password_changed", "reset_requested", "user_registered"])
def test_audit_log_shows_secrets_as_changed(world: World, kind: str) -> None:
    write = next(write for write in WRITES if WRITES[write].kind == kind)
    assert send(world, write, WRITES[write].ready(world)).status == 200
    after = json.loads(world.ledger()[-1].after or "")
    field = "PasswordResetCode" if kind == "reset_requested" else "Password"
    assert after[field] == "changed"


def test_stored_answer_does_not_contain_a_valid_reset_code(world: World) -> None:
    """Setting the same address again keeps the reset code valid, but the stored answer must not contain the code."""
    code = reset_code(world, "Ann")
    own = {"new": "ann@example.test"}
    answer = world.post(f"{USERS}/Ann/manage/email/change", own, headers={"Idempotency-Key": "k1"})
    assert (answer.status, answer.json["PasswordResetCode"]) == (200, None)
    assert code not in repr(rows(world, "idempotency_keys"))
    assert world.get(f"{USERS}/Ann").json["PasswordResetCode"] == code
