"""Guids and JSON as PostgreSQL's protocol carries them."""

from typing import Any


def guid_bytes(text: str) -> bytes:
    return bytes.fromhex(text.replace("-", ""))


def guid_text(raw: bytes) -> str:
    digits = bytes(raw).hex()
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"


def json_bytes(value: str | bytes) -> bytes:
    return value if isinstance(value, bytes) else value.encode()


ALL: tuple[dict[str, Any], ...] = (
    {"typename": "uuid", "encoder": guid_bytes, "decoder": guid_text},
    {"typename": "json", "encoder": json_bytes, "decoder": bytes},
)


async def teach(db: Any) -> None:  # noqa: ANN401 - asyncpg has no types
    for codec in ALL:
        await db.set_type_codec(**codec, schema="pg_catalog", format="binary")
