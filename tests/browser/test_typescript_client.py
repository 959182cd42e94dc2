"""The TypeScript client in a browser, on a page of another origin than the server's."""

import functools
import subprocess
import threading
from collections.abc import Generator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser

import people
from server import Server

ROOT = Path(__file__).parents[2]
COMPILER = ROOT / ".venv" / "typescript-client" / "node_modules" / "typescript" / "bin" / "tsc"
USE_CLIENT = """
async ([url, password, coin]) => {
  const { Client, errors } = await import("/index.js");
  const client = new Client(url, { username: "Root", password });
  const after = (await client.listChanges({ after: "now" })).next;
  const given = await client.giveItem("Bob", { itemId: coin, quantity: 3 }, { reason: "für Bob" });
  const taken = await client.takeItem("Bob", { itemId: coin, quantity: 99 }).catch((problem) => problem);
  for await (const change of client.followChanges({ after })) {
    const isLarge = (await client.getPlayer("Bob")).exp >= 0n;
    return [String(given.quantity.inventory), taken instanceof errors.NotEnoughItems, change.kind, isLarge];
  }
}
"""


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - name of the base class's parameter
        """Replace the request log: print nothing."""


@pytest.fixture
def site(tmp_path: Path) -> Generator[str]:
    """Compile the client, and serve it from an origin of its own."""
    if not COMPILER.exists():
        pytest.skip("This needs Node 20 with the packages of clients/typescript: run `make sample-tools`.")
    command = ["node", COMPILER, "--project", ROOT / "clients" / "typescript", "--outDir", tmp_path]
    subprocess.run(command, check=True, timeout=300)
    with ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(tmp_path))) as served:
        threading.Thread(target=served.serve_forever, daemon=True).start()
        yield f"http://localhost:{served.server_port}"
        served.shutdown()


def test_client_logs_in_writes_and_follows_changes_in_a_browser(browser: Browser, site: str, database: str) -> None:
    with Server(database, cors_origins=site) as server:
        page = browser.new_page()
        page.goto(site)
        found = page.evaluate(USE_CLIENT, [server.url, people.PASSWORD, people.COIN.id])
        page.close()
    assert found == ["3", True, "items_given", True]
