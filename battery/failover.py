"""Test b: the primary is killed under load, or shut down, and the instances are restarted one by one."""

import asyncio
import time
from collections import Counter
from dataclasses import dataclass, field

import crash_gives
from battery import patroni
from battery.cases import NO_HAPROXY, POSTGRES, Case, Figure, NotRun, Run, Timed
from battery.givers import Givers
from pair import Pair
from run_cluster import Cluster, haproxy

ASYNCHRONOUS, NO_SECOND_TRY = "asynchronous", "no_second_try"
WARM_SECONDS = 1.0
FROZEN_SECONDS = 1.5
SETTLE_SECONDS = 1.0
PROMOTE_BAR, SWITCH_BAR = 3.0, 5.0


@dataclass
class FailoverTimes:
    # Seconds from killing the primary to the next successful write
    promotes: list[float] = field(default_factory=list[float])
    switches: list[float] = field(default_factory=list[float])
    rolls: int = 0
    while_rolling: Counter[int] = field(default_factory=Counter[int])  # HTTP error statuses during the rolling restart


def run(run: Run) -> list[Figure]:
    """Run rolling restart, failover and switchover once; the long form repeats them until time is up."""
    if not haproxy():
        raise NotRun(NO_HAPROXY)
    until = time.monotonic() + (run.seconds or 0)
    pair = Pair(synchronous=run.fault != ASYNCHRONOUS)
    with Cluster(pair, second_try=run.fault != NO_SECOND_TRY) as cluster:
        token, players = asyncio.run(crash_gives.prepare(pair.url, run.seed))
        givers, seen = Givers(cluster.proxy.url, token, players, run.seed), FailoverTimes()
        with givers.at_work():
            time.sleep(WARM_SECONDS)
            if run.fault != ASYNCHRONOUS:
                _roll(cluster, givers, seen)
            if run.fault != NO_SECOND_TRY:
                _fail_over(pair, givers, seen)
            while not run.fault and (not seen.switches or time.monotonic() < until):
                pair.rebuild()
                _switch_over(pair, givers, seen)
                if time.monotonic() < until:
                    pair.rebuild()
                    _roll(cluster, givers, seen)
                    _fail_over(pair, givers, seen)
        return [*givers.figures(), givers.statuses(), *_figures(seen)]


def _roll(cluster: Cluster, givers: Givers, seen: FailoverTimes) -> None:
    began = time.monotonic()
    cluster.roll()
    seen.while_rolling += givers.refusals(since=began)
    seen.rolls += len(cluster.instances)


def _fail_over(pair: Pair, givers: Givers, seen: FailoverTimes) -> None:
    """Kill the primary after freezing its replication sender, so that the standby is behind as on a real network."""
    pair.primary.freeze_sender()
    time.sleep(FROZEN_SECONDS)
    killed = time.monotonic()
    pair.fail_over()
    time.sleep(SETTLE_SECONDS)
    seen.promotes.append(givers.back_after(killed))


def _switch_over(pair: Pair, givers: Givers, seen: FailoverTimes) -> None:
    began = time.monotonic()
    pair.switch_over()
    time.sleep(SETTLE_SECONDS)
    seen.switches.append(givers.back_after(began))


def _figures(seen: FailoverTimes) -> list[Figure]:
    found: list[Figure] = []
    if seen.promotes:
        found.append(_slowest("the primary killed: service is back", seen.promotes, PROMOTE_BAR))
    if seen.switches:
        found.append(_slowest("a planned switchover: service is back", seen.switches, SWITCH_BAR))
    if seen.rolls:
        failed = seen.while_rolling.total()
        said = f"{failed} in {seen.rolls} restarts {dict(seen.while_rolling) or ''}".strip()
        found.append(Figure.none("failed requests during a rolling restart", failed, said))
    return found


def _slowest(what: str, seconds: list[float], bar: float) -> Figure:
    worst = max(seconds)
    return Timed(what, f"after {worst:.2f} s at worst of {len(seconds)}", f"≤ {bar:g} s", worst <= bar)


CASES = (
    Case("b", "failover", run, (ASYNCHRONOUS, NO_SECOND_TRY), (POSTGRES,)),
    Case("b", "failover by Patroni", patroni.run, (ASYNCHRONOUS,), (POSTGRES,), optional=True),
)
