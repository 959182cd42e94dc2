"""Second factors at the token endpoint and over the API: codes, recovery codes, requirements and resets."""

from pathlib import Path

import pytest

import people
import staff
from factors import add_totp, make_code
from gamekeeper import app
from gamekeeper.game.access.key_file import KeyFile
from gamekeeper.game.access.refusals import KeyFileUnusable
from gamekeeper.ground import settings
from gamekeeper.store.access.roles import Powers
from proof import refused
from token_pairs import BY_PASSWORD, exchange, log_in, require_oauth_error, works
from world import PLAYERS, TOKEN, Answer, MakeWorld, World

SHOP = people.USER_IDS["Shop"]
ROLES = "/api/keeper/v1/roles"


def try_code(world: World, otp: str = "", user: str = "Shop", **more: str) -> Answer:
    return world.post(TOKEN, BY_PASSWORD | {"username": user, "otp": otp} | more, by=None)


def find_id(world: World, fold: str) -> str:
    return str(world.sql("SELECT id FROM users WHERE fold = $1", fold)[0][0])


def factors_path(user: str) -> str:
    return f"/api/keeper/v1/users/{user}/second-factors"


def test_account_with_a_factor_needs_a_code(world: World) -> None:
    secret, _ = add_totp(world, SHOP)
    require_oauth_error(try_code(world), "mfa_required")
    wrong = try_code(world, "000000")
    require_oauth_error(wrong, "invalid_grant")
    assert wrong.code == "wrong_otp"
    require_oauth_error(try_code(world, make_code(secret, -3)), "invalid_grant")
    require_oauth_error(try_code(world, make_code(secret), password="0" * 64), "invalid_grant")
    code = make_code(secret)
    spaced = world.call("POST", TOKEN, by=None, form=BY_PASSWORD | {"otp": f" {code[:3]} {code[3:]} "})
    assert works(world, spaced)
    require_oauth_error(try_code(world, code), "invalid_grant")  # a code works once
    require_oauth_error(try_code(world, make_code(secret, -1)), "invalid_grant")  # and those before it no longer
    assert try_code(world, make_code(secret, 1)).status == 200


def test_recovery_code_works_once(world: World) -> None:
    _, codes = add_totp(world, SHOP)
    assert len({*codes}) == 10
    assert try_code(world, codes[0]).status == 200
    require_oauth_error(try_code(world, codes[0]), "invalid_grant")
    assert try_code(world, codes[1].upper().replace("-", " ")).status == 200
    stored = [each for (each,) in world.sql("SELECT code_hash FROM recovery_codes")]
    assert not {each for each in codes if each in stored or each.replace("-", "") in stored}
    shown = world.get(factors_path("Shop")).json
    assert shown["RecoveryCodesLeft"] == 8
    assert [(each["Kind"], each["Name"]) for each in shown["SecondFactors"]] == [("totp", "Phone")]


@pytest.mark.both_engines
def test_code_sent_to_two_instances_at_once_works_once(world: World) -> None:
    secret, codes = add_totp(world, SHOP)
    other = World(world.url, world.tokens, world.loop)
    try:
        for otp in (make_code(secret), codes[0]):
            body = BY_PASSWORD | {"otp": otp}
            answers = world.at_once(each.send("POST", TOKEN, by=None, body=body) for each in (world, other) * 3)
            assert sorted(each.status for each in answers) == [200, *[400] * 5]
            world.sql("DELETE FROM guesses")  # else the limit of guesses refuses some of the next round
    finally:
        other.close()


@pytest.mark.both_engines
def test_wrong_codes_are_limited_like_wrong_passwords_also_in_parallel(make_world: MakeWorld) -> None:
    world = make_world(guesses_per_caller=3)
    secret, codes = add_totp(world, SHOP)
    known = "SELECT COUNT(*) FROM known_callers WHERE user_id = $1"
    # the right password does not make the caller known, and does not reset the count
    assert [try_code(world, "111111").status for _ in range(4)] == [400, 400, 400, 429]
    assert try_code(world, make_code(secret)).status == try_code(world, codes[0]).status == 429
    assert world.sql(known, SHOP) == [(0,)]
    world.sql("DELETE FROM guesses")
    assert try_code(world, make_code(secret)).status == 200
    assert world.sql(known, SHOP) == [(1,)]
    world.sql("DELETE FROM guesses")
    world.sql("DELETE FROM known_callers")
    bodies = [BY_PASSWORD | {"otp": f"{number:06}"} for number in range(12)]
    statuses = [each.status for each in world.at_once(world.send("POST", TOKEN, by=None, body=each) for each in bodies)]
    assert statuses.count(400) <= 3
    assert {*statuses} == {400, 429}


@pytest.mark.parametrize(("role_of_mia", "powers"), [("api", people.ACCOUNTS["Root"]), ("admin", None)])
def test_tokens_from_before_the_factor_lose_the_guarded_permissions(
    world: World, role_of_mia: str, powers: Powers | None
) -> None:
    def save(name: str, pair: Answer) -> Answer:
        role = {"name": name, "permissions": ["players.read"]}
        return world.post(ROLES, role, token=pair.json["access_token"])

    staff.add_account(world, "Mia", role_of_mia, powers=powers)
    before = log_in(world, "Mia")
    assert save("quiet", before).status == 200
    secret, _ = add_totp(world, find_id(world, "mia"))
    world.asgi.services.callers.clear_cache()
    refused(save("loud", before), 403, "permission_missing")
    assert works(world, before)
    require_oauth_error(exchange(world, before.json["refresh_token"]), "mfa_required")
    pair = try_code(world, make_code(secret), "Mia")
    assert save("loud", pair).status == 200
    assert save("louder", exchange(world, pair.json["refresh_token"])).status == 200


def test_setting_forbids_managing_staff_without_a_factor(make_world: MakeWorld) -> None:
    world = make_world(staff_without_second_factor=False)
    holder = staff.add_account(world, "Holder", staff.save_role(world, "stewards", ["staff.manage", "users.query"]))
    for token in (world.tokens["Root"], holder):  # also with a role that has the permission itself
        refused(world.get(factors_path("Shop"), token=token), 403, "permission_missing")


def test_role_can_require_a_factor(make_world: MakeWorld) -> None:
    world = make_world(second_factor_roles="shop, Moderator")
    staff.add_account(world, "Mia", "moderator")
    require_oauth_error(try_code(world, user="Mia"), "mfa_required")
    secret, _ = add_totp(world, find_id(world, "mia"))
    assert try_code(world, make_code(secret), "Mia").status == 200
    pair = log_in(world)
    assert works(world, pair)
    assert world.post("/api/keeper/v1/users/Shop/roles", {"give": ["shop"]}).status == 200
    require_oauth_error(exchange(world, pair.json["refresh_token"]), "mfa_required")
    # also a token got with a factor is not renewed once the factor is missing
    pair = try_code(world, make_code(secret, 1), "Mia")
    world.sql("DELETE FROM second_factors")
    require_oauth_error(exchange(world, pair.json["refresh_token"]), "mfa_required")


def test_lost_factor_is_reset_by_staff(world: World) -> None:
    secret, _ = add_totp(world, SHOP)
    pair = try_code(world, make_code(secret))
    answer = world.call("DELETE", factors_path("Shop"))
    assert answer.json == {"Id": SHOP, "Name": "Shop", "SecondFactors": [], "RecoveryCodesLeft": 0}
    assert world.get(PLAYERS, by="Shop").status == 401  # its tokens are revoked
    require_oauth_error(exchange(world, pair.json["refresh_token"]), "invalid_grant")
    assert world.sql("SELECT COUNT(*) FROM recovery_codes") == [(0,)]
    row = world.ledger()[-1]
    assert (row.kind, row.user_id, row.actor_id) == ("second_factors_reset", SHOP, people.USER_IDS["Root"])
    assert log_in(world).status == 200
    assert world.call("DELETE", factors_path("Shop")).status == 200  # nothing is left to reset
    assert world.ledger()[-1].seq == row.seq


def test_second_factors_are_in_the_security_log(world: World) -> None:
    secret, codes = add_totp(world, SHOP)
    assert try_code(world, codes[0]).status == 200
    assert try_code(world, make_code(secret)).status == 200
    assert try_code(world, "000000").status == 400
    world.run(world.keeper.failed_guesses.flush())
    assert world.call("DELETE", factors_path("Shop")).status == 200
    events = world.get(f"/api/keeper/v1/security?user={SHOP}", by="Root").json["Events"]
    kinds = {"second_factors_changed", "recovery_code_used", "sign_in", "guess_failed", "second_factors_reset"}
    assert kinds <= {each["Kind"] for each in events}
    assert {each["Details"]["SecondFactor"] for each in events if each["Kind"] == "sign_in"} == {True}


def test_reset_respects_rank_and_secret_is_encrypted_for_its_account(world: World) -> None:
    add_totp(world, people.USER_IDS["Root"])
    helper = staff.add_account(world, "Helper", staff.save_role(world, "stewards", ["staff.manage", "users.query"]))
    refused(world.call("DELETE", factors_path("Root"), token=helper), 403, "outranked")
    refused(world.call("DELETE", factors_path("Helper"), token=helper), 409, "own_factors")
    world.sql("DELETE FROM second_factors")
    secret, _ = add_totp(world, SHOP)
    ((stored,),) = world.sql("SELECT secret FROM second_factors")
    assert secret not in stored
    world.sql("UPDATE second_factors SET user_id = $1", people.USER_IDS["Root"])
    require_oauth_error(try_code(world, make_code(secret), "Root"), "invalid_grant")


def test_key_file_is_made_beside_sqlite_and_required_on_postgresql(tmp_path: Path) -> None:
    made = KeyFile("", tmp_path / "game.db")
    sealed = made.seal(b"text", "test")
    assert KeyFile("", tmp_path / "game.db").unseal(sealed, "test") == b"text"
    assert made.unseal(sealed, "another purpose") is None
    assert made.unseal("!", "test") is None
    assert (tmp_path / "game.db.key").stat().st_mode & 0o777 == 0o600
    assert [each.name for each in tmp_path.iterdir()] == ["game.db.key"]
    (tmp_path / "short").write_text("AAAA")
    for given in ("", str(tmp_path / "none"), str(tmp_path / "short")):
        with pytest.raises(KeyFileUnusable):
            KeyFile(given, None).seal(b"", "")
    assert app.build_keeper(settings.load({}, database="postgresql://x/y")).key_file.path is None
