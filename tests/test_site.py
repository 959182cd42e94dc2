"""The website of the documents: every link and every anchor works, and it needs nothing from other hosts."""

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
# HTML references that a browser loads by itself, unlike plain links
LOADED = re.compile(r'<(?:script|img|link|iframe)\b[^>]*?(?:src|href)="?((?:https?:)?//[^"\s>]+)')


def test_site_builds_without_dead_links_and_loads_nothing_from_other_hosts(tmp_path: Path) -> None:
    program = Path(sys.executable).with_name("mkdocs")
    done = subprocess.run(
        [program, "build", "--strict", "--config-file", ROOT / "mkdocs.yml", "--site-dir", tmp_path],
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    pages = {each.relative_to(tmp_path).as_posix(): each.read_text("utf-8") for each in tmp_path.rglob("*.html")}
    assert {"index.html", "docs/client.html", "CHANGELOG.html"} <= pages.keys()
    assert {name: LOADED.findall(text) for name, text in pages.items() if LOADED.search(text)} == {}
