"""Test l: an unreliable network to PostgreSQL, or with SQLite to the clients."""

import time
from collections.abc import Sequence
from math import inf
from typing import NamedTuple
from urllib.parse import parse_qs, urlsplit

from battery import realm
from battery.cases import POSTGRES, SQLITE, Case, Figure, Run, Timed
from battery.faulty_wire import CUT_ANSWER, MODES, RESET, FaultyWire
from battery.givers import GiveAnswer, Givers
from battery.served import ASSUMED_COMMIT, Served
from gamekeeper.store.engine.postgres_url import CONNECT_SECONDS
from run_cluster import Instance

WITHOUT_KEYS = "without_keys"
SHOWS_IN = {WITHOUT_KEYS: CUT_ANSWER, ASSUMED_COMMIT: RESET}
FAULT_SECONDS = 1.0
SEEDED_SECONDS = 5.0  # seconds of the network failure that shows a seeded fault; enough on a busy machine
HEALED_BAR = 2.0
WELL_SECONDS = 2.3  # seconds between two failures; longer than the bar for recovery, so that a slow recovery shows
# seconds after a failure: requests sent in this time are judged; later ones only if answered before the next failure
LOOK_SECONDS = 1.0
HASTY = 1.0  # seconds: timeout of a client whose answers may never come


class Outage(NamedTuple):
    """One period of network failure, and the time after it."""

    mode: str
    healed: float
    until: float  # monotonic time at which the next network failure begins or the test ends


def to_clients(run: Run) -> list[Figure]:
    world = realm.prepare(run.database)
    with Instance(run.database) as server, FaultyWire(server.port, run.seed) as wire:
        url = f"http://127.0.0.1:{wire.port}"
        givers = Givers([url], world, run.seed, keyed=run.fault != WITHOUT_KEYS, patience=HASTY)
        return _figures(givers, _suffer(wire, givers, run))


def to_database(run: Run) -> list[Figure]:
    world = realm.prepare(run.database)
    url = urlsplit(run.database)
    socket = f"{parse_qs(url.query)['host'][0]}/.s.PGSQL.{url.port or 5432}"
    with FaultyWire(socket, run.seed) as wire:
        place = f"{url.username}@127.0.0.1:{wire.port}{url.path}"
        through = f"postgresql://{place}?connect_timeout={CONNECT_SECONDS}"
        with Served(run.fault, through) if run.fault else Instance(through) as server:
            givers = Givers([server.url], world, run.seed)
            return [*_figures(givers, _suffer(wire, givers, run)), givers.statuses()]


def _suffer(wire: FaultyWire, givers: Givers, run: Run) -> list[Outage]:
    """Apply each kind of network failure; with a seeded fault, the kind that shows it. The long form repeats this."""
    spells: list[Outage] = []
    with givers.at_work():
        for mode in (mode for _ in run.rounds() for mode in ([SHOWS_IN[run.fault]] if run.fault else MODES)):
            wire.spoil(mode)
            time.sleep(SEEDED_SECONDS if run.fault else FAULT_SECONDS)
            wire.heal()
            if not run.fault:  # recovery is not measured with a seeded fault, because recovery times do not show it
                healed = time.monotonic()
                time.sleep(WELL_SECONDS)
                spells.append(Outage(mode, healed, time.monotonic()))
    return spells


def _figures(givers: Givers, spells: list[Outage]) -> list[Figure]:
    worst = {each.mode: 0.0 for each in spells}
    for each in spells:
        worst[each.mode] = max(worst[each.mode], recovery_seconds(givers.answers, each))
    healed = [Timed.within(f"{mode}: recovery", seconds, HEALED_BAR) for mode, seconds in worst.items()]
    return [*givers.figures(), *healed]


def recovery_seconds(answers: Sequence[GiveAnswer], spell: Outage) -> float:
    """Return the seconds after a failure until requests succeed, none is refused, and no old one still waits."""
    later = [each for each in answers if each.asked >= spell.healed]
    served = min((each.came for each in later if each.good), default=inf)
    ours = [each for each in later if each.asked < spell.healed + LOOK_SECONDS or each.came < spell.until]
    refused = [each.came for each in ours if not each.good]
    waited = [each.came for each in answers if each.asked < spell.healed < each.came]
    return max([served, *refused, *waited]) - spell.healed


CASES = (
    Case("l", "network to the clients", to_clients, (WITHOUT_KEYS,), (SQLITE,)),
    Case("l", "network to the database", to_database, (ASSUMED_COMMIT,), (POSTGRES,)),
)
