"""The code of docs/client.md runs and prints the documented text."""

from pathlib import Path

import pytest

from sample_code import Workplace, parse_samples
from server import Server

PAGE = Path(__file__).parents[2] / "docs" / "client.md"


# SQLite only: the client does not depend on the database engine
@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
@pytest.mark.long_only
def test_every_block_runs_and_prints_the_documented_text(demo_server: Server, tmp_path: Path) -> None:
    workplace = Workplace(tmp_path, demo_server.url, {})
    workplace.start_page()
    found = [each for each in parse_samples(PAGE.name, PAGE.read_text("utf-8")) if each.language == "python"]
    assert len(found) > 10
    for each in found:
        workplace.run(each)
