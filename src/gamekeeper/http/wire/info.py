"""The server about itself."""

from msgspec import Struct


class Health(Struct):
    Status: str


class Versions(Struct):
    versions: list[str]


class Info(Struct):
    name: str
    port: int


class ServerStats(Struct):
    uptime: int
    cps: int
    connectedClients: int  # noqa: N815 - the wire's spelling
    onlineCount: int  # noqa: N815 - as above


class PlayerConfig(Struct):
    MaxCharacters: int
    MaxInventory: int
    MaxBank: int
    MaxSpells: int
    MaxLevel: int
    MaxStat: int
    InitialBankslots: int


class Config(Struct):
    GameName: str
    ServerPort: int
    Player: PlayerConfig


VERSIONS = ["v1"]
