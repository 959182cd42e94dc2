"""Binary encoding of guids and JSON for PostgreSQL's protocol."""

from typing import Any


def encode_guid(text: str) -> bytes:
    return bytes.fromhex(text.replace("-", ""))


def decode_guid(raw: bytes) -> str:
    digits = bytes(raw).hex()
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"


def encode_json(value: str | bytes) -> bytes:
    return value if isinstance(value, bytes) else value.encode()


ALL: tuple[dict[str, Any], ...] = (
    {"typename": "uuid", "encoder": encode_guid, "decoder": decode_guid},
    {"typename": "json", "encoder": encode_json, "decoder": bytes},
)


async def register_codecs(db: Any) -> None:  # noqa: ANN401 - asyncpg has no types
    for codec in ALL:
        await db.set_type_codec(**codec, schema="pg_catalog", format="binary")
