"""Test b: the primary is killed under load, or shut down, and the instances are restarted one by one."""

import time
from collections import Counter

from battery import realm
from battery.cases import NO_HAPROXY, POSTGRES, Case, Figure, NotRun, Run, Timed
from battery.givers import Givers
from pair import Pair
from run_cluster import Cluster, haproxy

ASYNCHRONOUS, NO_SECOND_TRY = "asynchronous", "no_second_try"
WARM_SECONDS = 1.0
FROZEN_SECONDS = 1.5
SETTLE_SECONDS = 1.0
PROMOTE_BAR, SWITCH_BAR = 3.0, 5.0


def run(run: Run) -> list[Figure]:
    """Run rolling restart, failover and switchover once; the long form repeats them until time is up."""
    if not haproxy():
        raise NotRun(NO_HAPROXY)
    pair = Pair(synchronous=run.fault != ASYNCHRONOUS)
    promotes, switches, refused = list[float](), list[float](), Counter[int]()
    with Cluster(pair, second_try=run.fault != NO_SECOND_TRY) as cluster:
        givers = Givers([cluster.proxy.url], realm.prepare(pair.url), run.seed)
        with givers.at_work():
            time.sleep(WARM_SECONDS)
            for number in run.rounds():
                if number:
                    pair.rebuild()
                if run.fault != ASYNCHRONOUS:
                    began = time.monotonic()
                    cluster.roll()
                    refused += givers.refusals(since=began)
                if run.fault != NO_SECOND_TRY:
                    promotes.append(_fail_over(pair, givers))
                if not run.fault:
                    pair.rebuild()
                    switches.append(_switch_over(pair, givers))
        figures = [*givers.figures(), givers.statuses()]
    if promotes:
        figures.append(Timed.within("the primary killed: service is back", max(promotes), PROMOTE_BAR))
    if switches:
        figures.append(Timed.within("a planned switchover: service is back", max(switches), SWITCH_BAR))
    said = f"{refused.total()} {dict(refused) or ''}".strip()
    return [*figures, Figure.none("failed requests during rolling restarts", refused.total(), said)]


def _fail_over(pair: Pair, givers: Givers) -> float:
    """Kill the primary after freezing its replication sender, so that the standby is behind as on a real network."""
    pair.primary.freeze_sender()
    time.sleep(FROZEN_SECONDS)
    killed = time.monotonic()
    pair.fail_over()
    time.sleep(SETTLE_SECONDS)
    return givers.back_after(killed)


def _switch_over(pair: Pair, givers: Givers) -> float:
    began = time.monotonic()
    pair.switch_over()
    time.sleep(SETTLE_SECONDS)
    return givers.back_after(began)


CASES = (Case("b", "failover", run, (ASYNCHRONOUS, NO_SECOND_TRY), (POSTGRES,)),)
