"""The code of docs/client.md runs and prints the documented text; the README of the package is valid."""

import pytest

from blocks import PAGE, parse_blocks, run_blocks
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
