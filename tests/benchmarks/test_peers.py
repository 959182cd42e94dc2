import re

from benchmarks.installs import PEERS
from gamekeeper import log
from gamekeeper.store import sqlite

FASTIFY = (PEERS / "fastify" / "server.js").read_text(encoding="utf-8")


def _number(pattern: str) -> int:
    (found,) = re.findall(pattern, FASTIFY)
    return int(found)


def test_fastify_s_log_is_kept_as_long_as_ours() -> None:
    assert _number(r"minLength: (\d+)") == log.KEPT_MOST
    assert _number(r"flushSync\(\), (\d+)\)") == log.KEPT_SECONDS * 1000


def test_fastify_s_database_keeps_as_many_pages_as_ours() -> None:
    assert _number(r"cache_size = -(\d+)") == sqlite.READING_KIB
