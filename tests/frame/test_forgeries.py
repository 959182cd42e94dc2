"""Forged forms are rejected, and the security headers let browsers run only our own scripts."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import people
from expectations import unchanged
from gamekeeper.console.pages import PAGES
from gamekeeper.http.contract.operation import Route
from keepers import ACT, SIGN_IN, Keeper, fill_path, open_session
from loops import over
from markup import Page
from world import Answer, World

EVENTS = "/console/events"
# forms before a session exists; their origin is checked
SIGN_INS = {SIGN_IN, "/console/sign-in/second", "/console/invitation"}
PATH = f"/api/v1/players/{people.ANN.id}/items/give"
GIFT = {"method": "POST", "path": PATH, "body.itemid": people.COIN.id, "body.quantity": "5"}
CONFIRMED = {**GIFT, "confirmed": "yes", "reason": "x"}


def require_no_change(world: World, forged: Callable[[], Answer]) -> None:
    with unchanged(world):
        answer = forged()
        assert answer.status == 403, answer.raw
        assert "This form did not come from a page of this console" in Page(answer.raw.decode()).text


def test_form_without_this_sessions_token_is_rejected(world: World, root: Keeper) -> None:
    theirs = open_session(world, "Root").csrf
    assert theirs != root.csrf
    for csrf in ("", theirs, "wrong", "0" * 64, "ümlaut"):
        require_no_change(world, partial(root.post, ACT, CONFIRMED, csrf=csrf))


@over(
    "headers",
    {"sec-fetch-site": "cross-site"},
    {"sec-fetch-site": "same-site"},
    {"origin": "https://evil.example"},
    {"origin": "null"},
    {"origin": "https://game.example.evil.example"},
)
def test_form_from_another_origin_is_rejected(world: World, root: Keeper, headers: dict[str, str]) -> None:
    sent = {**headers, "host": "game.example"}
    require_no_change(world, partial(root.post, ACT, CONFIRMED, headers=sent))


def test_form_from_our_own_origin_is_accepted_behind_a_proxy_too(root: Keeper) -> None:
    ours = {"origin": "https://game.example", "host": "game.example", "sec-fetch-site": "same-origin"}
    assert root.post(ACT, GIFT, headers=ours).status == 200
    behind = {"origin": "https://game.example", "host": "127.0.0.1:5400"}
    assert root.post(ACT, GIFT, headers={**behind, "sec-fetch-site": "same-origin"}).status == 200
    assert root.post(ACT, GIFT, headers=behind).status == 403


def find_unguarded(root: Keeper, routes: Sequence[Route]) -> list[str]:
    """List the console's form routes that accept a form without CSRF token, or read the form before they check it."""
    found = list[str]()
    for route in routes:
        if route.method == "GET" or route.path in SIGN_INS:
            continue
        answer = root.post(fill_path(route), CONFIRMED, csrf="")
        if answer.status != 403 or b"forged_form" not in answer.raw:
            found.append(route.path)
    return found


def test_every_form_has_and_requires_the_csrf_token(root: Keeper) -> None:
    assert {route.method for route in PAGES} == {"GET", "POST"}
    with unchanged(root.world):
        assert find_unguarded(root, PAGES) == []
    for route in PAGES:
        if route.method == "GET" and not route.parameters and route.path not in {SIGN_IN, EVENTS}:
            for each in list_forms(root, route):
                assert each.fields.get("csrf") == root.csrf, route.path


def list_forms(root: Keeper, route: Route) -> list[Any]:
    """List the forms of a page that use POST, without the search forms, which use GET."""
    answer = root.get(route.path)
    html = answer.raw.decode() if answer.headers["content-type"].startswith("text/html") else ""
    return [each for each in Page(html).forms if each.attributes.get("method") == "post"]


def test_every_page_has_the_security_headers(root: Keeper) -> None:
    for route in PAGES:
        if route.method != "GET" or route.path == EVENTS:
            continue
        answer = root.get(fill_path(route))
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy, route.path
        assert "frame-ancestors 'none'" in policy, route.path
        assert "unsafe" not in policy, route.path
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"
        if answer.headers["content-type"].startswith("text/html"):
            assert answer.headers["cache-control"] == "no-store", route.path
            assert_nothing_inline(route.path, Page(answer.raw.decode()))


def assert_nothing_inline(path: str, page: Page) -> None:
    """Assert that a page has no inline scripts or styles and loads nothing from other hosts."""
    for tag, attributes in page.tags:
        assert tag != "style", path
        assert tag != "script" or attributes.get("src", "").startswith("/console/static/"), path
        assert "style" not in attributes, (path, tag)
        assert not [name for name in attributes if name.startswith("on")], (path, tag)
        # a link loads nothing: documents have some to other hosts
        is_document = tag == "a" and path.startswith("/console/documents/")
        for name in ("src", "href", "action"):
            foreign = attributes.get(name, "").startswith(("http:", "https:", "//", "javascript:"))
            assert is_document or not foreign, (path, tag)


def test_only_static_files_are_served(world: World) -> None:
    anybody = Keeper(world)
    for name, kind in (("console.css", "css"), ("console.js", "javascript")):
        answer = anybody.get(f"/console/static/{name}")
        assert answer.headers["content-type"] == f"text/{kind}; charset=utf-8"
    for name in ("..%2Fpages.py", "%2Fetc%2Fpasswd", "missing.css", ".."):
        assert anybody.get(f"/console/static/{name}").status == 404, name


@over("path", "/console/static/console.css", "/console/static/0123456789abcdef/console.css")
def test_other_addresses_are_revalidated(world: World, path: str) -> None:
    """A server of another version, during an update, must neither miss a file nor make browsers keep the wrong one."""
    answer = Keeper(world).get(path)
    assert (answer.status, answer.headers["cache-control"]) == (200, "private, no-cache")
    again = Keeper(world).get(path, {"if-none-match": answer.headers["etag"]})
    assert again.status == 304
