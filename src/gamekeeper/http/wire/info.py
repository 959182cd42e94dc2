"""JSON shapes of answers about the server: health, versions, settings."""

from typing import Annotated

from msgspec import Meta, Struct

from gamekeeper.http.wire.scalars import PRINTABLE, PlainInt32, PlainInt64

Tolerant = Annotated[bool, Meta(description="Get the tolerant document, which describes all that the server accepts.")]

FileVersion = Annotated[
    str,
    Meta(
        description="Version of the file. A browser keeps the present version for a year.", extra_json_schema=PRINTABLE
    ),
]


class DocumentQuery(Struct, frozen=True):
    tolerant: Tolerant = False


class DocsFileQuery(Struct, frozen=True):
    v: FileVersion = ""


class Health(Struct):
    Status: str


class Versions(Struct):
    versions: list[str]


class Info(Struct):
    name: str
    port: PlainInt32


class ServerStats(Struct):
    uptime: PlainInt64
    cps: PlainInt32
    connectedClients: PlainInt32  # noqa: N815 - the wire's spelling
    onlineCount: PlainInt32  # noqa: N815 - as above


VERSIONS = ["v1"]
