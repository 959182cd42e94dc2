"""The website of the documents: links and anchors work, nothing comes from other hosts, and guides are short."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.long_only

ROOT = Path(__file__).parents[1]
# HTML references that a browser loads by itself, unlike plain links
LOADED = re.compile(r'<(?:script|img|link|iframe)\b[^>]*?(?:src|href)="?((?:https?:)?//[^"\s>]+)')


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    program = Path(sys.executable).with_name("mkdocs")
    done = subprocess.run(
        [program, "build", "--strict", "--config-file", ROOT / "mkdocs.yml", "--site-dir", folder],
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return folder


def test_site_builds_without_dead_links_and_loads_nothing_from_other_hosts(site: Path) -> None:
    pages = {each.relative_to(site).as_posix(): each.read_text("utf-8") for each in site.rglob("*.html")}
    assert {"index.html", "docs/client.html", "CHANGELOG.html"} <= pages.keys()
    assert {name: LOADED.findall(text) for name, text in pages.items() if LOADED.search(text)} == {}
