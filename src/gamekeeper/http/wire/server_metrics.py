"""The answer of `info/metrics`, in the shape of the engine's 0.7. What Gamekeeper does not know is zero."""

from msgspec import Struct

from gamekeeper.http.wire.scalars import Instant, PlainDouble, PlainInt32, PlainInt64


class Measure(Struct, frozen=True):
    """Measured values of the last seconds: smallest, largest, how many, sum and mean."""

    Min: PlainInt64 = 0
    Max: PlainInt64 = 0
    Count: PlainInt32 = 0
    Sum: PlainInt64 = 0
    Mean: PlainDouble = 0.0


NONE = Measure()


class ApplicationMetrics(Struct, frozen=True):
    Cpu: Measure = NONE
    Memory: Measure = NONE  # bytes


class GameMetrics(Struct, frozen=True):
    Cps: Measure = NONE  # requests per second
    Players: Measure = NONE
    ActiveMaps: Measure = NONE
    ActiveEntities: Measure = NONE
    ActiveEvents: Measure = NONE
    AutorunEvents: Measure = NONE
    ProcessingEvents: Measure = NONE
    MapQueueUpdateOffset: Measure = NONE
    MapUpdateQueuedTime: Measure = NONE
    MapUpdateProcessingTime: Measure = NONE
    MapTotalUpdateTime: Measure = NONE


class NetworkMetrics(Struct, frozen=True):
    Clients: Measure = NONE  # game servers with a lease
    TotalBandwidth: Measure = NONE
    SentBytes: Measure = NONE
    SentPackets: Measure = NONE
    ReceivedBytes: Measure = NONE
    ReceivedPackets: Measure = NONE
    AcceptedBytes: Measure = NONE
    AcceptedPackets: Measure = NONE
    DroppedBytes: Measure = NONE
    DroppedPackets: Measure = NONE
    TotalReceivedPacketHandlingTime: Measure = NONE
    TotalSentPacketProcessingTime: Measure = NONE
    # always empty: network packets of the game do not pass through Gamekeeper
    MostSentPackets: list[str] = []
    MostReceivedPackets: list[str] = []


class ThreadingMetrics(Struct, frozen=True):
    LogicPoolActiveThreads: Measure = NONE
    LogicPoolInUseThreads: Measure = NONE
    LogicPoolWorkItemsCount: Measure = NONE
    NetworkPoolActiveThreads: Measure = NONE
    NetworkPoolInUseThreads: Measure = NONE
    NetworkPoolWorkItemsCount: Measure = NONE
    DatabasePoolActiveThreads: Measure = NONE
    DatabasePoolInUseThreads: Measure = NONE
    DatabasePoolWorkItemsCount: Measure = NONE
    SystemPoolInUseWorkerThreads: Measure = NONE
    SystemPoolInUseIOThreads: Measure = NONE


class Sections(Struct, frozen=True):
    Application: ApplicationMetrics
    Game: GameMetrics
    Network: NetworkMetrics
    Threading: ThreadingMetrics


class ServerMetrics(Struct, frozen=True):
    uptime: PlainInt64  # milliseconds
    datetime: Instant
    metrics: Sections


def measure(*values: int) -> Measure:
    total = sum(values)
    return Measure(min(values), max(values), len(values), total, total / len(values))
