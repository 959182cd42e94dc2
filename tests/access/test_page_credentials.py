"""Which credentials open a page of the console."""

from gamekeeper.console.pages import PAGES
from gamekeeper.http.contract.operation import NO_TOKEN
from gamekeeper.http.routes import ROUTES
from keepers import ACT, SIGN_IN, SOMEBODY, Keeper, fill_path, is_sent_to_sign_in, open_session
from loops import over
from markup import Page
from world import MakeWorld, World


@over("tls", False, True)
def test_api_does_not_accept_the_cookie(make_world: MakeWorld, *, tls: bool) -> None:
    """Over TLS the path of the cookie is /, so browsers send it to the API too."""
    world = make_world(trusted_proxies="10.0.0.1")
    root = open_session(world, "Root")
    said = {"x-forwarded-proto": "https"} if tls else {}
    cookie = {"cookie": f"{'__Host-gamekeeper' if tls else 'gamekeeper'}={root.cookie}"}
    assert root.get(SOMEBODY, headers={**said, **cookie}, address="10.0.0.1").status == 200
    guarded = [each for each in ROUTES if each.permissions is not NO_TOKEN]
    assert len(guarded) > 50
    sent = {**said, **cookie, "content-type": "application/json", "x-csrf": root.csrf}
    for route in guarded:
        answer = world.call(route.method, fill_path(route), by=None, raw=b"{}", headers=sent, address="10.0.0.1")
        assert (answer.status, answer.code) == (401, "denied"), route.path


def test_console_is_the_root_address_unless_disabled(make_world: MakeWorld) -> None:
    for path in ("/", "/?from=bookmark"):
        answer = make_world().get(path, by=None)
        assert (answer.status, answer.headers["location"]) == (303, "/console")
    assert make_world(console=False).get("/", by=None).code == "no_such_route"
    world = make_world(console=False)
    somebody = open_session(world, "Root")
    for route in PAGES:
        assert somebody.world.call(route.method, fill_path(route), by=None).status == 404, route.path


def test_program_credentials_open_no_page(world: World) -> None:
    assert is_sent_to_sign_in(world.get(SOMEBODY))
    assert is_sent_to_sign_in(world.call("POST", ACT, raw=b"", headers={"content-type": "text/plain"}))
    assert is_sent_to_sign_in(Keeper(world, world.tokens["Root"]).get(SOMEBODY))


@over("two", "{}; gamekeeper=other", "gamekeeper=other; {}", "{0}; {0}", "{}; gamekeeper=")
def test_two_session_cookies_are_rejected(root: Keeper, two: str) -> None:
    """Another program on this host may have set one of two session cookies, and must not choose the account."""
    headers = {"cookie": two.format(f"gamekeeper={root.cookie}")}
    assert is_sent_to_sign_in(root.get(SOMEBODY, headers=headers))
    said = Page(root.get(SIGN_IN, headers=headers).raw.decode()).text
    assert "more than one cookie gamekeeper" in said
    assert "more than one cookie" not in root.page(SIGN_IN).text


@over("cookie", "", "gka_wrong", "gka_ü", '"', "a=b; gamekeeper=gka_x", "\x7f", "x" * 9000)
def test_invalid_cookie_is_rejected(world: World, cookie: str) -> None:
    assert is_sent_to_sign_in(Keeper(world, cookie).get(SOMEBODY))
