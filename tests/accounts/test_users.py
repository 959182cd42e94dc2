"""Operations 20, 21, 22, 27, 28 and 31 of docs/operations.md: read and register accounts."""

import people
from account_records import NO_POWER, ROOTS_POWER, record
from loops import over
from proof import refused, reset_code, spelt
from world import USERS, World
from writes import token_of

CLERKS_POWER = NO_POWER | {"Api": True, "PersonalInformation": True}


def test_lists_have_the_exact_body_and_the_legacy_one_is_deprecated(shared_world: World) -> None:
    values = [
        record(shared_world, "Clerk", Power=CLERKS_POWER),
        record(shared_world, "Mona", IsMuted=True, MuteReason="spamming"),
    ]
    answer = shared_world.get(f"{USERS}?page=1&pageSize=2")
    assert answer.raw == spelt({"Total": 7, "Page": 1, "PageSize": 2, "Count": 2, "Values": values})
    legacy = shared_world.post(USERS, {"page": 1, "count": 2})
    assert legacy.raw == spelt({"total": 7, "Page": 1, "count": 2, "entries": values})
    assert legacy.headers["deprecation"].startswith("@")
    assert legacy.headers["link"] == f'<{USERS}>; rel="successor-version"'
    assert "deprecation" not in answer.headers


@over(
    "name, differing",
    ("Ann", {}),
    ("Mona", {"IsMuted": True, "MuteReason": "spamming"}),
    ("Root", {"Power": ROOTS_POWER}),
)
def test_record_has_the_exact_body(shared_world: World, name: str, differing: dict[str, object]) -> None:
    assert shared_world.get(f"{USERS}/{name}").raw == spelt(record(shared_world, name, **differing))


def codes(world: World, by: str, token: str | None = None) -> set[str | None]:
    """Return Ann's reset code from every operation that shows her record to this caller."""
    one = world.get(f"{USERS}/Ann", by=by, token=token).json
    paged = world.get(USERS, by=by, token=token).json["Values"][0]
    legacy = world.post(USERS, by=by, token=token).json["entries"][0]
    assert one["Name"] == paged["Name"] == legacy["Name"] == "Ann"
    return {each["PasswordResetCode"] for each in (one, paged, legacy)}


def test_reset_code_is_shown_only_with_users_manage_until_it_expires_or_is_used(world: World) -> None:
    code = reset_code(world, "Ann")
    assert codes(world, "Root") == {code}
    assert codes(world, "Clerk") == {None}
    # A read-only token must not read a code with which a password can be set
    assert codes(world, "Root", token_of(world, "Root", read_only=True).access) == {None}
    assert world.get(f"{USERS}/Bob").json["PasswordResetCode"] is None
    world.sql("UPDATE resets SET expires_at = expires_at - 29 * 60000")
    assert codes(world, "Root") == {code}
    world.sql("UPDATE resets SET expires_at = expires_at - 60000")
    assert codes(world, "Root") == {None}
    code = reset_code(world, "Ann")
    assert world.post(f"{USERS}/Ann/password/reset", {"code": code, "new": "a" * 64}).status == 200
    assert codes(world, "Root") == {None}


def test_players_of_an_account_are_listed_by_creation(shared_world: World) -> None:
    answer = shared_world.get(f"{USERS}/Ann/players")
    expected = [shared_world.get(f"/api/v1/players/{name}").raw for name in ("Ann", "Zoe")]
    assert answer.raw == b"[" + b",".join(expected) + b"]"
    assert shared_world.get(f"{USERS}/Mona/players").raw == b"[]"


def test_player_of_an_account_is_found_by_name_id_or_index(shared_world: World) -> None:
    for key, name in (("0", "Ann"), ("1", "Zoe"), ("zOE", "Zoe"), (people.ZOE.id, "Zoe")):
        answer = shared_world.get(f"{USERS}/ann/players/{key}")
        assert (answer.status, answer.raw) == (200, shared_world.get(f"/api/v1/players/{name}").raw)
    for key in ("Bob", "2", "-1", "9" * 30):  # Bob is another account's
        refused(shared_world.get(f"{USERS}/Ann/players/{key}"), 404, "no_such_player", f"No player with name '{key}'.")
    answer = shared_world.get(f"{USERS}/Ann/players/{people.BOB.id}")
    refused(answer, 404, "no_such_player", f"No player with id '{people.BOB.id}'.")
