"""Operations 20, 21, 22, 27, 28 and 31 of docs/operations.md: read and register accounts."""

import pytest

import people
from account_records import NO_POWER, REGISTER, ROOTS_POWER, USERS, record
from proof import refused, reset_code, spelt
from world import SENT, Answer, World
from writes import token_of

EVERYBODY = ["Ann", "Bob", "Clerk", "Mona", "Root", "Server", "Shop"]
CLERKS_POWER = NO_POWER | {"Api": True, "PersonalInformation": True}
OPERATIONS: dict[str, tuple[str, str, object]] = {
    "20": ("GET", USERS, None),
    "21": ("GET", f"{USERS}/Ann", None),
    "22": ("POST", REGISTER, {"username": "Newbie", "password": SENT, "email": "newbie@example.test"}),
    "27": ("GET", f"{USERS}/Ann/players", None),
    "28": ("GET", f"{USERS}/Ann/players/0", None),
    "31": ("POST", USERS, {}),
}


def names(answer: Answer) -> list[str]:
    found = answer.json
    return [each["Name"] for each in found.get("Values", found.get("entries"))]


# --- permissions for accounts --------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", OPERATIONS)
def test_accounts_need_a_token_and_the_role(world: World, number: str) -> None:
    method, path, body = OPERATIONS[number]
    denied = world.call(method, path, body=body, by=None)
    refused(denied, 401, "denied", "Authorization has been denied for this request.")
    refused(
        world.call(method, path, body=body, by="Shop"),
        403,
        "role_missing",
        "This needs the permission users.query. Ask an administrator for a role that has it.",
    )
    assert world.call(method, path, body=body, by="Clerk").status == 200


# --- operations 20 and 31: lists of accounts -----------------------------------------------------------------------


def test_list_has_the_exact_body(shared_world: World) -> None:
    answer = shared_world.get(f"{USERS}?page=1&pageSize=2")
    values = [
        record(shared_world, "Clerk", Power=CLERKS_POWER),
        record(shared_world, "Mona", IsMuted=True, MuteReason="spamming"),
    ]
    assert answer.raw == spelt({"Total": 7, "Page": 1, "PageSize": 2, "Count": 2, "Values": values})
    assert answer.headers["content-type"] == "application/json; charset=utf-8"


def test_legacy_list_has_the_exact_body(shared_world: World) -> None:
    answer = shared_world.post(USERS, {"page": 1, "count": 2})
    entries = [
        record(shared_world, "Clerk", Power=CLERKS_POWER),
        record(shared_world, "Mona", IsMuted=True, MuteReason="spamming"),
    ]
    assert answer.raw == spelt({"total": 7, "Page": 1, "count": 2, "entries": entries})


def test_legacy_list_says_that_it_is_deprecated(shared_world: World) -> None:
    answer = shared_world.post(USERS)
    assert answer.headers["deprecation"].startswith("@")
    assert answer.headers["link"] == f'<{USERS}>; rel="successor-version"'
    assert "deprecation" not in shared_world.get(USERS).headers


@pytest.mark.parametrize(
    ("query", "page", "size", "expected"),
    [
        ("", 0, 5, EVERYBODY[:5]),
        ("?page=1", 1, 5, EVERYBODY[5:]),
        ("?pagesize=3&PAGE=2", 2, 3, EVERYBODY[6:]),
        ("?pageSize=3&limit=2", 0, 3, EVERYBODY[:2]),
        ("?pageSize=3&limit=9", 0, 3, EVERYBODY[:3]),
        ("?pageSize=5000", 0, 100, EVERYBODY),
        ("?page=9", 9, 5, []),
        ("?page=2147483647&pageSize=100", 2147483647, 100, []),
    ],
)
def test_list_pages(shared_world: World, query: str, page: int, size: int, expected: list[str]) -> None:
    answer = shared_world.get(USERS + query)
    counts = (answer.json["Total"], answer.json["Page"], answer.json["PageSize"], answer.json["Count"])
    assert counts == (7, page, size, len(expected))
    assert names(answer) == expected


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (None, EVERYBODY[:5]),
        ({}, EVERYBODY[:5]),
        ({"page": "1"}, EVERYBODY[5:]),
        ({"Page": 1, "COUNT": "3"}, EVERYBODY[3:6]),
        ({"count": 5000}, EVERYBODY),
        ({"page": 9}, []),
    ],
)
def test_legacy_list_pages(shared_world: World, body: object, expected: list[str]) -> None:
    answer = shared_world.post(USERS, body)
    assert (answer.json["total"], answer.json["count"]) == (7, len(expected))
    assert names(answer) == expected


@pytest.mark.parametrize("field", ["page", "pageSize", "limit"])
def test_malformed_page_of_the_list_is_refused(shared_world: World, field: str) -> None:
    bad = ["-1", "x", "", "1.0", "1e3", "2147483648", "9" * 5000, "true", "%EF%BC%91", "+1", "1_0"]
    for text in bad if field == "page" else ["0", *bad]:
        answer = shared_world.get(f"{USERS}?{field}={text}")
        refused(answer, 400, "bad_field")
        assert f"'{field}'" in answer.message


@pytest.mark.parametrize("field", ["page", "count"])
def test_malformed_page_of_the_legacy_list_is_refused(shared_world: World, field: str) -> None:
    bad: list[object] = ["x", 1.5, True, 2**31, -(2**31) - 1, [1], {"a": 1}]
    for value in [-1, *bad] if field == "page" else bad:
        answer = shared_world.post(USERS, {field: value})
        refused(answer, 400, "bad_field")
        assert f"'{field}'" in answer.message


# --- operation 21: one account -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "differing"),
    [
        ("Ann", {}),
        ("Mona", {"IsMuted": True, "MuteReason": "spamming"}),
        ("Root", {"Power": ROOTS_POWER}),
        ("Clerk", {"Power": CLERKS_POWER}),
        ("Shop", {"Power": NO_POWER | {"Api": True}}),
    ],
)
def test_record_has_the_exact_body(shared_world: World, name: str, differing: dict[str, object]) -> None:
    assert shared_world.get(f"{USERS}/{name}").raw == spelt(record(shared_world, name, **differing))


def key_forms() -> list[str]:
    hyphened = people.USER_IDS["Ann"]
    plain = hyphened.replace("-", "")
    return ["Ann", "aNN", "%41nn", hyphened, hyphened.upper(), plain, f"%7B{hyphened}%7D", f"%7b{plain}%7d"]


def test_record_by_name_or_id_in_any_form(shared_world: World) -> None:
    for key in key_forms():
        assert shared_world.get(f"{USERS}/{key}").json == record(shared_world, "Ann"), key


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ("Nobody", "No user with name 'Nobody'."),
        (people.NOBODY_ID.upper(), f"No user with id '{people.NOBODY_ID}'."),
        ("Zoe", "No user with name 'Zoe'."),  # this name is a player's, not an account's
        (people.ANN.id, f"No user with id '{people.ANN.id}'."),
        ("a%2Fb", "No user with name 'a/b'."),
        ("%EF%BC%91" * 3, "No user with name '１１１'."),  # noqa: RUF001 - full-width digits on purpose
        ("x" * 8000, f"No user with name '{'x' * 8000}'."),
    ],
)
def test_unknown_key_is_404_with_the_specs_message(shared_world: World, key: str, message: str) -> None:
    for path in (key, f"{key}/players", f"{key}/players/0"):
        refused(shared_world.get(f"{USERS}/{path}"), 404, "no_such_user", message)


def test_keys_that_cannot_be_names_are_unknown(shared_world: World) -> None:
    for key in ("%00", "Ann%00", "Ann%0A", "%ff%fe", "%ED%A0%80"):
        refused(shared_world.get(f"{USERS}/{key}"), 404, "no_such_user")


# --- the field PasswordResetCode -----------------------------------------------------------------------------------


def codes(world: World, by: str, token: str | None = None) -> set[str | None]:
    """Return Ann's reset code from every operation that shows her record to this caller."""
    one = world.get(f"{USERS}/Ann", by=by, token=token).json
    paged = world.get(USERS, by=by, token=token).json["Values"][0]
    legacy = world.post(USERS, by=by, token=token).json["entries"][0]
    assert one["Name"] == paged["Name"] == legacy["Name"] == "Ann"
    return {each["PasswordResetCode"] for each in (one, paged, legacy)}


def test_reset_code_is_shown_only_with_users_manage(world: World) -> None:
    code = reset_code(world, "Ann")
    assert codes(world, "Root") == {code}
    assert codes(world, "Clerk") == {None}
    assert world.get(f"{USERS}/Bob").json["PasswordResetCode"] is None


def test_reset_code_is_hidden_from_a_read_only_token(world: World) -> None:
    """A read-only token must not read a code with which a password can be set."""
    reset_code(world, "Ann")
    assert codes(world, "Root", token_of(world, "Root", read_only=True).access) == {None}


def test_reset_code_disappears_after_use(world: World) -> None:
    code = reset_code(world, "Ann")
    assert world.post(f"{USERS}/Ann/password/reset", {"code": code, "new": "a" * 64}).status == 200
    assert codes(world, "Root") == {None}


def test_reset_code_disappears_after_thirty_minutes(world: World) -> None:
    reset_code(world, "Ann")
    world.sql("UPDATE resets SET expires_at = expires_at - 29 * 60000")
    assert codes(world, "Root") != {None}
    world.sql("UPDATE resets SET expires_at = expires_at - 60000")
    assert codes(world, "Root") == {None}


# --- operations 27 and 28: players of an account -------------------------------------------------------------------


def test_players_of_an_account_are_listed_by_creation(shared_world: World) -> None:
    answer = shared_world.get(f"{USERS}/Ann/players")
    expected = [shared_world.get(f"/api/v1/players/{name}").raw for name in ("Ann", "Zoe")]
    assert answer.raw == b"[" + b",".join(expected) + b"]"
    assert shared_world.get(f"{USERS}/Mona/players").raw == b"[]"


@pytest.mark.parametrize(
    ("key", "name"),
    [
        ("0", "Ann"),
        ("1", "Zoe"),
        ("zOE", "Zoe"),
        (people.ZOE.id, "Zoe"),
        (people.ZOE.id.upper().replace("-", ""), "Zoe"),
        (f"%7B{people.ANN.id}%7D", "Ann"),
    ],
)
def test_player_of_an_account_is_found_by_name_id_or_index(shared_world: World, key: str, name: str) -> None:
    answer = shared_world.get(f"{USERS}/ann/players/{key}")
    assert (answer.status, answer.raw) == (200, shared_world.get(f"/api/v1/players/{name}").raw)


@pytest.mark.parametrize(
    ("key", "message"),
    [
        ("Bob", "No player with name 'Bob'."),  # this player belongs to another account
        (people.BOB.id, f"No player with id '{people.BOB.id}'."),
        ("2", "No player with name '2'."),
        ("-1", "No player with name '-1'."),
        ("9" * 30, f"No player with name '{'9' * 30}'."),
        ("%EF%BC%90", "No player with name '０'."),  # noqa: RUF001 - a full-width digit on purpose
        ("Nobody", "No player with name 'Nobody'."),
    ],
)
def test_unknown_player_of_an_account_is_404(shared_world: World, key: str, message: str) -> None:
    refused(shared_world.get(f"{USERS}/Ann/players/{key}"), 404, "no_such_player", message)


def test_player_name_wins_over_an_index(world: World) -> None:
    body = {"Name": "00", "UserId": people.USER_IDS["Ann"], "CreationDate": "2026-01-01T00:00:00Z"}
    assert world.call("PUT", f"/api/link/v1/players/{people.guid(99)}", body=body).status == 200
    assert world.get(f"{USERS}/Ann/players/00").json["Name"] == "00"
    assert world.get(f"{USERS}/Ann/players/0").json["Name"] == "Ann"
