"""Second factors in the console: set-up, the second step of a sign-in, recovery codes, removal and reset."""

import json
import re

import pyotp

import people
from factors import add_totp, make_code
from gamekeeper.store.access import second_factors as rows
from keepers import Keeper, open_session
from markup import Form, Page
from passkey import Passkey
from world import Answer, MakeWorld, World

HOME, TOTP = "/console/me/second-factor", "/console/me/second-factor/totp"
SIGN_IN, SECOND = "/console/sign-in", "/console/sign-in/second"
SHOP = people.USER_IDS["Shop"]
ORIGIN = "https://keeper.example:8443"


def read(answer: Answer) -> Page:
    return Page(answer.raw.decode())


def read_secret(page: Page) -> str:
    found = re.search(r"(?:[A-Z2-7]{4} ){7}[A-Z2-7]{4}", page.text)
    assert found
    return found[0].replace(" ", "")


def read_recovery_codes(page: Page) -> list[str]:
    return re.findall(r"(?:[a-z0-9]{4}-){3}[a-z0-9]{4}", page.text)


def start_sign_in(world: World, name: str = "Shop", **fields: str) -> tuple[Keeper, Form]:
    """Send name and password; return the form of the second step."""
    visitor = Keeper(world)
    answer = visitor.post(SIGN_IN, {"name": name, "password": people.PASSWORD, **fields}, csrf="").accepted()
    assert "set-cookie" not in answer.headers
    return visitor, read(answer).form(SECOND)


def finish(visitor: Keeper, form: Form, code: str) -> Answer:
    answer = visitor.post(SECOND, {**form.fields, "code": code}, csrf="")
    if "set-cookie" in answer.headers:
        visitor.cookie = answer.headers["set-cookie"].partition(";")[0].partition("=")[2]
    return answer


def test_app_is_set_up_with_a_code_and_shows_recovery_codes(world: World) -> None:
    shop = open_session(world, "Shop")
    assert "You have no second factor" in shop.page(HOME).text
    page = shop.page(TOTP)
    form, secret = page.form(TOTP), read_secret(page)
    assert "QR code of the secret" in {each.get("alt") for _, each in page.tags}
    wrong = shop.post(TOTP, {**form.fields, "code": "000000"})
    assert wrong.status == 400
    assert read_secret(read(wrong)) == secret
    assert world.run(rows.read_of_user(world.keeper.store, SHOP)) == []
    code = make_code(secret)
    done = read(shop.post(TOTP, {**form.fields, "name": "My phone", "code": code}))
    codes = read_recovery_codes(done)
    assert len({*codes}) == 10
    # sent again, for example by a reload: it counts once
    assert shop.post(TOTP, {**form.fields, "code": make_code(secret)}).status == 409
    shop.page(HOME).assert_shown("My phone", "10 unused recovery codes are left")
    change = world.ledger()[-1]
    assert change.kind == "second_factors_changed"
    assert json.loads(change.after or "") == {"SecondFactors": ["totp"], "RecoveryCodes": "changed"}
    visitor, step = start_sign_in(world)
    assert finish(visitor, step, code).status == 400  # used for the set-up
    assert finish(visitor, step, codes[3]).status == 303
    assert "9 unused recovery codes are left" in visitor.page(HOME).text


def test_sign_in_has_two_steps(world: World) -> None:
    secret, _ = add_totp(world, SHOP)
    visitor, form = start_sign_in(world, next="/console/online")
    wrong = finish(visitor, form, "123456")
    assert wrong.status == 400
    right = finish(visitor, read(wrong).form(SECOND), make_code(secret))
    assert (right.status, right.headers["location"]) == (303, "/console/online")
    assert visitor.get("/console/online").status == 200
    assert world.sql("SELECT second_factor FROM tokens ORDER BY issued_at DESC LIMIT 1") in ([(1,)], [(True,)])


def test_second_step_needs_the_first_one(world: World) -> None:
    secret, codes = add_totp(world, SHOP)
    visitor, form = start_sign_in(world)
    forged = finish(visitor, Form(SECOND, {}, {"state": form.fields["state"][:-4] + "AAAA"}), codes[0])
    assert forged.status == 400
    assert "Start over" in read(forged).text
    elsewhere = visitor.post(SECOND, form.fields | {"code": codes[0]}, {"sec-fetch-site": "cross-site"}, csrf="")
    assert elsewhere.status == 403
    world.sql("UPDATE users SET password = '!' WHERE id = $1", SHOP)
    assert finish(visitor, form, make_code(secret)).status == 400  # the password was changed in between
    assert finish(visitor, form, codes[0]).status == 400


def test_factor_is_removed_with_a_fresh_code(world: World) -> None:
    secret, codes = add_totp(world, SHOP)
    shop = open_session(world, "Shop")
    ((factor,),) = world.sql("SELECT id FROM second_factors")
    remove = f"{HOME}/{factor}/remove"
    fields = shop.page(HOME).form(remove).fields
    assert shop.post(remove, fields | {"code": "000000"}).status == 400
    assert shop.post(remove, fields | {"passkey": '{"id":"none"}'}).status == 400
    assert shop.post(f"{HOME}/{people.NOBODY_ID}/remove", fields | {"code": codes[0]}).status == 404
    assert shop.post(remove, fields | {"code": make_code(secret)}).status == 303
    assert world.sql("SELECT COUNT(*) FROM recovery_codes") == [(0,)]
    assert Keeper(world).sign_in("Shop").status == 303


def test_factor_and_codes_are_renewed_and_removed(world: World) -> None:
    _, old = add_totp(world, SHOP)
    shop = open_session(world, "Shop")
    new = read_recovery_codes(read(shop.post(f"{HOME}/codes")))
    assert len(new) == 10
    visitor, form = start_sign_in(world)
    assert finish(visitor, form, old[0]).status == 400
    assert finish(visitor, form, new[0]).status == 303


def test_old_session_signs_in_again_before_it_adds_a_factor(world: World) -> None:
    add_totp(world, SHOP)
    shop = open_session(world, "Shop")
    page = shop.page(TOTP)
    world.sql("UPDATE tokens SET issued_at = issued_at - 1000000, last_used = issued_at")
    assert "sign in again first" in shop.page(HOME).text
    assert TOTP not in [each.action for each in read(shop.get(TOTP)).forms]
    assert read_recovery_codes(read(shop.post(f"{HOME}/codes"))) == []
    sent = page.form(TOTP).fields | {"code": make_code(read_secret(page))}
    other = open_session(world, "Root")
    assert other.post(TOTP, sent | {"csrf": other.csrf}).status == 400  # the set-up of another account


def test_role_that_requires_a_factor_leads_to_the_set_up(make_world: MakeWorld) -> None:
    world = make_world(second_factor_roles="api")
    visitor = Keeper(world)
    assert visitor.sign_in("Shop").status == 303
    for path in ("/console", "/console/characters", f"/console/accounts/{SHOP}", "/console/explorer"):
        assert visitor.get(path).headers.get("location") == HOME, path
    assert visitor.post("/console/suggest", {"q": "ann"}, {"accept": "application/json"}, csrf="").status == 403
    assert world.get("/api/v1/players", token=visitor.cookie).status == 400  # nor does its token work at the API
    page = visitor.page(TOTP)
    assert "Your role api requires a second factor" in visitor.page(HOME).text
    secret = read_secret(page)
    sent = {**page.form(TOTP).fields, "code": pyotp.TOTP(secret).now()}
    assert read_recovery_codes(read(visitor.post(TOTP, sent, csrf=sent["csrf"])))
    assert visitor.get("/console/characters").status == 200
    ((factor,),) = world.sql("SELECT id FROM second_factors")
    remove = f"{HOME}/{factor}/remove"
    kept = visitor.post(remove, visitor.page(HOME).form(remove).fields | {"code": make_code(secret, 1)})
    assert kept.status == 409
    assert "this is the last one" in read(kept).text


def test_first_factor_ends_the_other_sessions(make_world: MakeWorld) -> None:
    world = make_world(second_factor_roles="api")
    thief, owner = open_session(world, "Shop"), open_session(world, "Shop")
    page = owner.page(TOTP)
    assert world.get("/api/v1/players", token=thief.cookie).status == 400
    sent = {**page.form(TOTP).fields, "code": make_code(read_secret(page))}
    assert read_recovery_codes(read(owner.post(TOTP, sent, csrf=sent["csrf"])))
    assert world.get("/api/v1/players", token=thief.cookie).status == 401
    assert world.get("/api/v1/players", token=owner.cookie).status == 200
    other = open_session(world, "Shop")
    add_totp(world, SHOP, "Tablet")  # only the first factor ends sessions
    assert other.get("/console/characters").status == 200


def read_options(page: Page, action: str) -> str:
    """Return the options for the browser's passkeys in a form of the page."""
    return next(
        form.attributes["data-passkey"] for form in page.forms if form.action == action and "passkey" in form.fields
    )


def test_passkey_is_added_signs_in_once_and_is_removed(make_world: MakeWorld) -> None:
    world = make_world(public_url=ORIGIN)
    shop, passkey, path = open_session(world, "Shop"), Passkey(), f"{HOME}/passkey"
    page = shop.page(HOME)
    sent, options = page.form(path).fields | {"name": "Laptop"}, read_options(page, path)
    assert shop.post(path, sent | {"passkey": "{}"}).status == 400
    assert shop.post(path, sent | {"passkey": passkey.make(options, "https://phishing.example")}).status == 400
    assert len(read_recovery_codes(read(shop.post(path, sent | {"passkey": passkey.make(options, ORIGIN)})))) == 10
    visitor = Keeper(world)
    step = read(visitor.post(SIGN_IN, {"name": "Shop", "password": people.PASSWORD}, csrf=""))
    form, options = step.form(SECOND), read_options(step, SECOND)
    foreign = Passkey().use(options, ORIGIN)
    phished = passkey.use(options, "https://phishing.example")
    right = passkey.use(options, ORIGIN)
    for answer, status in ((foreign, 400), (phished, 400), (right, 303), (right, 400)):  # an answer works once
        given = visitor.post(SECOND, form.fields | {"passkey": answer}, csrf="")
        assert given.status == status
    passkey.sign_count = 7
    assert visitor.post(SECOND, form.fields | {"passkey": passkey.use(options, ORIGIN)}, csrf="").status == 400
    ((factor,),) = world.sql("SELECT id FROM second_factors")
    page, remove = shop.page(HOME), f"{HOME}/{factor}/remove"
    answer = passkey.use(read_options(page, remove), ORIGIN)
    assert shop.post(remove, page.form(remove).fields | {"passkey": answer}).status == 303
    assert world.sql("SELECT COUNT(*) FROM second_factors") == [(0,)]


def test_staff_resets_a_factor_on_the_account_page(world: World, root: Keeper) -> None:
    add_totp(world, SHOP)
    page = root.page(f"/console/accounts/{SHOP}")
    assert "authenticator app" in page.text
    assert "Reset the second factor" in [each for form in page.forms for each in form.buttons]
    assert root.act("DELETE", f"/api/keeper/v1/users/{SHOP}/second-factors").status == 303
    assert "Second factor reset" in root.page("/console/changes").text
    assert Keeper(world).sign_in("Shop").status == 303
