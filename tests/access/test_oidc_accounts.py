"""Sign-ins with OpenID Connect: which account they belong to, its roles and second factors, and linked sign-ins."""

import asyncio
from typing import Any

import pytest

import staff
from approving import GIVE
from factors import add_totp, make_code
from gamekeeper.game.access import identities
from gamekeeper.game.access.console_refusals import SignInUsed
from gamekeeper.game.access.identities import ProvenIdentity
from gamekeeper.game.access.tokens import TokenPair
from gamekeeper.game.core.refusals import UnauthorizedClient
from gamekeeper.game.core.writes import Intent
from gamekeeper.store.engine import clock
from keepers import Keeper, open_session, read_text
from markup import Page
from oidc_browser import HOME, SECOND, Browser, find_link, find_user, link, list_roles, read_events, sign_in
from people import COIN, NOBODY_ID, USER_IDS
from providers import ScriptedProvider
from world import MakeWorld

ROOT, SHOP = USER_IDS["Root"], USER_IDS["Shop"]


def test_unknown_identity_without_a_mapped_role_is_refused(open_to: MakeWorld, provider: ScriptedProvider) -> None:
    world = open_to()
    with world.nothing_recorded():
        # name and address of another account do not help
        same: dict[str, Any] = {"preferred_username": "Root", "email": "root@example.test", "email_verified": True}
        for groups in (None, ["visitors"], "opsx", {"ops": True}):
            _, refused = sign_in(world, provider, **same, groups=groups)
            assert refused.status == 403
            assert "no group of yours there gives a role" in read_text(refused)


def test_new_account_gets_a_free_name_and_only_a_verified_address(
    open_to: MakeWorld, provider: ScriptedProvider
) -> None:
    world = open_to()
    given = [
        ("s1", {"preferred_username": "Root", "email": "root@example.test", "email_verified": True}, "Root2", ""),
        ("s2", {"preferred_username": "root", "email": "r@people.example"}, "root3", ""),
        (
            "s3",
            {"preferred_username": "j.doe@corp", "email": "j@people.example", "email_verified": True},
            "jdoe",
            "j@people.example",
        ),
    ]
    for subject, claims, name, email in given:
        assert sign_in(world, provider, subject, groups=["ops"], **claims)[1].status == 303
        assert world.sql("SELECT name, email FROM users WHERE id = $1", find_user(world, subject)) == [(name, email)]
    assert find_user(world, "s1") != ROOT
    for name in ("", "é", "..."):
        _, refused = sign_in(world, provider, "s4", groups=["ops"], preferred_username=name)
        assert refused.status == 409
    assert Keeper(world).sign_in("jdoe").status == 400  # nobody knows its password


def test_mapping_gives_and_takes_only_its_roles(open_to: MakeWorld, provider: ScriptedProvider) -> None:
    world = open_to()
    assert sign_in(world, provider, groups=["support"])[1].status == 303
    assert list_roles(world, "Dora") == ["moderator"]
    assert world.post("/api/keeper/v1/users/Dora/roles", {"give": ["viewer"]}).status == 200
    assert sign_in(world, provider, groups=["ops"])[1].status == 303
    assert list_roles(world, "Dora") == ["admin", "viewer"]
    event = read_events(world, "roles_changed")[0]
    assert event["Details"] == {"Given": ["admin"], "Taken": ["moderator"]}
    with world.nothing_recorded():
        assert sign_in(world, provider, groups=["ops"])[1].status == 303
    assert sign_in(world, provider)[1].status == 303  # without the claim
    assert list_roles(world, "Dora") == ["viewer"]
    world.post("/api/keeper/v1/users/Dora/roles", {"take": ["viewer"]})
    _, refused = sign_in(world, provider)
    assert refused.status == 400
    assert "Dora" in read_text(refused)  # it has no role, so it cannot log in
    nested = open_to(oidc_claim="realm_access.roles", oidc_roles="ops=moderator,support=api")
    assert sign_in(nested, provider, "nested", realm_access={"roles": ["support"]})[1].status == 303
    assert list_roles(nested, find_user(nested, "nested")) == ["api"]


def test_last_manager_keeps_the_role(open_to: MakeWorld, provider: ScriptedProvider) -> None:
    world = open_to("ops=admin,support=moderator,boss=chief")
    staff.save_role(world, "chief", ["staff.manage", "users.query"])
    assert sign_in(world, provider, groups=["ops", "support", "boss"])[1].status == 303
    world.sql("UPDATE users SET users_manage = $1 WHERE name = 'Root'", False)  # Dora is the last one
    browser, answer = sign_in(world, provider, groups=[])
    assert answer.status == 303
    assert browser.get("/console/staff").status == 200
    assert world.sql("SELECT role FROM user_roles") == [("chief",)]
    ((details,),) = world.sql("SELECT details FROM security_events WHERE kind = 'roles_kept'")
    assert "chief" in str(details)
    world.sql("UPDATE users SET users_manage = $1 WHERE name = 'Root'", True)
    assert sign_in(world, provider, groups=["support"])[1].status == 303
    assert world.sql("SELECT role FROM user_roles") == [("moderator",)]


def test_parallel_sign_ins_leave_one_manager(
    open_to: MakeWorld, provider: ScriptedProvider, engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    staff.slow_down_manager_check(engine, monkeypatch)
    world = open_to()
    subjects = ["s1", "s2", "s3", "s4"]
    for each in subjects:
        assert sign_in(world, provider, each, groups=["ops"])[1].status == 303
    world.sql("UPDATE users SET users_manage = $1 WHERE name = 'Root'", False)

    async def sign_in_all() -> None:
        left = [ProvenIdentity(provider.issuer, each, "id.example") for each in subjects]
        begun = await clock.now(world.keeper.store) + 1
        signing_in = [identities.sign_in(world.keeper, each, begun, Intent("test")) for each in left]
        done = await asyncio.gather(*signing_in, return_exceptions=True)
        assert [type(each) for each in done].count(TokenPair) == 1
        assert [type(each) for each in done].count(UnauthorizedClient) == 3  # they have no role any more

    world.run(sign_in_all())
    assert world.sql("SELECT COUNT(*) FROM user_roles WHERE role = 'admin'") == [(1,)]


def test_parallel_first_sign_ins_make_one_account(open_to: MakeWorld, provider: ScriptedProvider) -> None:
    world, other = open_to(), open_to()
    person = ProvenIdentity(provider.issuer, "s1", "id.example", "Dora", groups=frozenset({"ops"}))

    async def sign_in_twice() -> None:
        begun = await clock.now(world.keeper.store)
        signing_in = [
            identities.sign_in(each.keeper, person, begun + number, Intent("test"))
            for number, each in enumerate((world, other))
        ]
        done = await asyncio.gather(*signing_in, return_exceptions=True)
        assert {type(each) for each in done} <= {TokenPair, SignInUsed}

    world.run(sign_in_twice())
    assert world.sql("SELECT name FROM users WHERE name LIKE 'Dora%'") == [("Dora",)]


def test_banned_suspended_and_erased_accounts_are_refused(open_to: MakeWorld, provider: ScriptedProvider) -> None:
    world = open_to()
    assert sign_in(world, provider, groups=["support"])[1].status == 303
    assert world.post("/api/keeper/v1/users/Dora/suspend").status == 200
    _, refused = sign_in(world, provider, groups=["ops"])
    assert refused.status == 400
    assert "suspended" in read_text(refused)
    assert list_roles(world, "Dora") == ["moderator"]
    assert world.post("/api/keeper/v1/users/Dora/resume").status == 200
    ban = {"duration": 5, "reason": "a test", "moderator": "Root", "ip": False}
    assert world.post("/api/v1/users/Dora/admin/ban", ban).status == 200
    assert "banned" in read_text(sign_in(world, provider, groups=["ops"])[1])


def test_own_second_factor_is_asked_unless_the_provider_used_one(
    open_to: MakeWorld, provider: ScriptedProvider
) -> None:
    world = open_to(second_factor_roles="moderator")
    person: dict[str, Any] = {"groups": ["support"]}
    browser, _ = sign_in(world, provider, **person)
    assert browser.get("/console/characters").headers["location"] == "/console/me/second-factor"
    browser, _ = sign_in(world, provider, **person, amr=["pwd", "mfa"])
    assert browser.get("/console/characters").status == 200
    secret, _ = add_totp(world, find_user(world, "ann-at-work"))
    browser, step = sign_in(world, provider, **person, amr=["pwd"])
    assert (step.status, browser.cookie) == (200, "")
    fields = Page(step.raw.decode()).form(SECOND).fields | {"code": make_code(secret)}
    assert browser.post(SECOND, fields, csrf="").status == 303
    assert read_events(world, "sign_in")[0]["Details"]["By"] == provider.issuer
    browser, answer = sign_in(world, provider, **person, amr=["mfa"])
    assert answer.status == 303
    assert browser.get("/console/characters").status == 200


def test_sign_in_is_linked_used_and_removed(open_to: MakeWorld, provider: ScriptedProvider) -> None:
    world = open_to("")
    assert sign_in(world, provider, "shop")[1].status == 403
    assert link(world, provider, "Shop", "shop").headers["location"] == HOME
    assert link(world, provider, "Shop", "shop").status == 303  # a second time changes nothing
    browser, answer = sign_in(world, provider, "shop")
    assert answer.status == 303
    assert find_user(world, "shop") == SHOP
    taken = link(world, provider, "Root", "shop")
    assert taken.status == 409
    assert "linked to another account" in read_text(taken)
    page = browser.page(HOME)
    (form,) = [each for each in page.forms if each.action.endswith("/remove")]
    assert browser.post(f"{HOME}/{NOBODY_ID}/remove").status == 404
    assert open_session(world, "Root").post(form.action).status == 404  # that of another account
    assert browser.post(form.action).status == 303
    assert sign_in(world, provider, "shop")[1].status == 403
    changes = [each for each in world.ledger() if each.kind == "identities_changed"]
    assert [each.user_id for each in changes] == [SHOP, SHOP]
    events = read_events(world, "identities_changed")
    assert [(each["Details"]["Before"], each["Details"]["After"]) for each in events] == [
        ([provider.issuer], []),
        ([], [provider.issuer]),
    ]


def test_person_with_mapped_roles_cannot_get_a_second_account_to_approve(
    open_to: MakeWorld, provider: ScriptedProvider
) -> None:
    world = open_to(approvals="items.give")
    browser, _ = sign_in(world, provider, groups=["ops"])
    held = browser.act("POST", GIVE, {"itemid": COIN.id, "quantity": "5"})
    assert (held.status, b"Waiting for approval" in held.raw) == (409, True)
    page = browser.page(HOME)
    assert "you cannot remove it" in page.text
    assert [each for each in page.forms if each.action.endswith("/remove")] == []
    ((identity,),) = world.sql("SELECT id FROM identities")
    refused = browser.post(f"{HOME}/{identity}/remove")
    assert refused.status == 409
    assert "suspend the account instead" in read_text(refused)
    again, _ = sign_in(world, provider, groups=["ops"])
    assert "another account must decide" in again.page("/console/approvals").text
    assert world.sql("SELECT name FROM users WHERE name LIKE 'Dora%'") == [("Dora",)]


def test_reset_of_second_factors_removes_linked_sign_ins(open_to: MakeWorld, provider: ScriptedProvider) -> None:
    world = open_to("")
    for subject in ("shop", "thief"):
        assert link(world, provider, "Shop", subject).status == 303
    thief, _ = sign_in(world, provider, "thief")
    assert world.call("DELETE", "/api/keeper/v1/users/Shop/second-factors").status == 200
    assert thief.get("/console/characters").status == 303  # its session is revoked
    assert sign_in(world, provider, "thief")[1].status == 403
    changes = world.ledger()[-3:]
    assert [each.kind for each in changes] == ["second_factors_reset", "identities_changed", "identities_changed"]
    assert str(changes[1].after).count(provider.issuer) == 1
    assert str(changes[2].after).count(provider.issuer) == 0


def test_reset_of_second_factors_removes_links_but_makes_no_second_account(
    open_to: MakeWorld, provider: ScriptedProvider
) -> None:
    world = open_to()
    sign_in(world, provider, groups=["support"])
    add_totp(world, find_user(world, "ann-at-work"))
    assert world.call("DELETE", "/api/keeper/v1/users/Dora/second-factors").status == 200
    assert sign_in(world, provider, groups=["support"])[1].status == 303
    assert world.sql("SELECT name FROM users WHERE name LIKE 'Dora%'") == [("Dora",)]
    assert world.call("DELETE", "/api/v1/users/Dora").status == 200
    assert world.sql("SELECT COUNT(*) FROM identities") == [(0,)]


def test_link_needs_the_accounts_own_fresh_session(open_to: MakeWorld, provider: ScriptedProvider) -> None:
    world = open_to()
    shop, root = Browser(world, open_session(world, "Shop").cookie), Browser(world, open_session(world, "Root").cookie)
    ours = find_link(shop)
    assert root.get(ours).status == 403
    assert shop.get(f"{HOME}/link?ticket=none").status == 400
    callback = provider.sign_in(shop.start(ours), "shop")
    provider.accepts_codes_twice = True
    for other in (root, Browser(world)):
        other.flow_cookie = shop.flow_cookie
        assert other.finish(callback).status == 401
    assert world.sql("SELECT COUNT(*) FROM identities") == [(0,)]
    world.sql("UPDATE tokens SET issued_at = issued_at - 1000000, last_used = issued_at")
    assert shop.get(ours).status == 403
    assert "sign in again first" in read_text(shop.get(HOME))
