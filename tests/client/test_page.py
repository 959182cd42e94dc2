"""The code of docs/client.md runs and prints the documented text; the README of the package is valid."""

import re

import pytest

from blocks import PAGE, parse_blocks, run_blocks
from client_calls import METHODS
from gamekeeper.http.routes import ROUTES
from server import Server

TEXT = PAGE.read_text("utf-8")
ROOT = PAGE.parents[1]


# SQLite only: the client does not depend on the database engine
@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
@pytest.mark.long_only
def test_every_block_runs_and_prints_the_documented_text(demo_server: Server) -> None:
    found = parse_blocks(TEXT)
    assert len(found) > 10
    for expected, printed in run_blocks(found, demo_server.url):
        assert printed == expected


def test_package_page_uses_methods_that_exist() -> None:
    code = "".join(block.code for block in parse_blocks((ROOT / "clients" / "python" / "README.md").read_text("utf-8")))
    compile(code, "README.md", "exec")
    assert {"iterate_ranking", "give_item"} <= set(re.findall(r"client\.(\w+)\(", code)) <= set(METHODS)


def test_page_names_methods_without_an_operation() -> None:
    named = re.findall(r"`(\w+)`", TEXT.split("## Every method")[1])
    assert set(named) == set(METHODS) - {route.name for route in ROUTES}
