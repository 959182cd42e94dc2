"""Sign-in with OpenID Connect in a real browser, at a real provider."""

from collections.abc import Callable, Generator
from pathlib import Path

import pytest
from accessibility import check_page
from demo_server import DemoServer, copy_demo
from visitor import Visitor

from providers import RealProvider, make_settings
from server import free_port

Visit = Callable[..., Visitor]


@pytest.fixture(scope="session")
def provider(tmp_path_factory: pytest.TempPathFactory) -> Generator[tuple[RealProvider, int]]:
    """Start a provider for a console on a free port; return both."""
    port = free_port()
    with RealProvider(tmp_path_factory.mktemp("provider"), f"http://127.0.0.1:{port}") as started:
        yield started, port


@pytest.fixture
def console(
    provider: tuple[RealProvider, int], engine: str, request: pytest.FixtureRequest, tmp_path: Path
) -> Generator[DemoServer]:
    """Serve the demo world with the provider."""
    databases = request.getfixturevalue(f"{engine}_databases")
    started, port = provider
    chosen = make_settings(started.issuer, tmp_path, "support=moderator")
    url = copy_demo(databases)
    with DemoServer(url, port=port, public_url=f"http://127.0.0.1:{port}", **chosen) as server:
        yield server
    databases.drop(url)


def sign_in_at_provider(me: Visitor, login: str) -> None:
    """Type a login at the provider, and consent."""
    me.page.get_by_placeholder("Enter any login").fill(login)
    me.page.get_by_placeholder("and password").fill("any")
    me.page.get_by_role("button", name="Sign-in").click()
    me.page.get_by_role("button", name="Continue").click()


def test_round_trip(visit: Visit, console: DemoServer, provider: tuple[RealProvider, int]) -> None:
    started, _ = provider
    started.set_groups({"Dora": ["support"]})
    button = f"Sign in with {started.issuer.removeprefix('http://')}"
    me = visit(console, "", others=(started.issuer,))
    me.go("/console/sign-in?next=/console/characters")
    check_page(me)
    me.page.get_by_role("link", name=button).click()
    sign_in_at_provider(me, "Dora")
    me.page.wait_for_url("**/console/characters")
    me.page.locator("summary", has_text="Dora").wait_for()
    me.go("/console/me/sign-ins")
    check_page(me)

    stranger = visit(console, "", others=(started.issuer,))
    stranger.expected.add(403)
    stranger.go("/console/sign-in")
    stranger.page.get_by_role("link", name=button).click()
    sign_in_at_provider(stranger, "Stranger")
    stranger.sees("no group of yours there gives a role")
