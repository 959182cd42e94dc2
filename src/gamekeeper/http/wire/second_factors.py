"""JSON shapes of second factors, without their secrets."""

from msgspec import Struct

from gamekeeper.http.wire.scalars import Guid, Instant, PlainInt32


class SecondFactor(Struct):
    """A second factor of an account. `Kind`: totp or passkey."""

    Kind: str
    Name: str
    AddedAt: Instant
    LastUsed: Instant | None


class SecondFactorList(Struct):
    Id: Guid
    Name: str
    SecondFactors: list[SecondFactor]
    RecoveryCodesLeft: PlainInt32
