import pytest

from benchmarks import memory

STATUS = "Name:\tpython\nVmRSS:\t   20480 kB\nRssAnon:\t   10240 kB\nThreads:\t5\n"
ROLLUP = "55d0-7ffe ---p 00000000 00:00 0   [rollup]\nPss:               15360 kB\nPrivate_Dirty:      1024 kB\n"


def test_what_a_process_holds_is_read_in_mib() -> None:
    assert memory.parse(STATUS + ROLLUP) == pytest.approx({"VmRSS": 20, "RssAnon": 10, "Pss": 15, "Private_Dirty": 1})
