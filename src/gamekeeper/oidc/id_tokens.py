"""Check ID tokens, and read what they say about a person."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, cast

from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import JWKRegistry, Key, KeySet

from gamekeeper.game.identities import ProvenIdentity
from gamekeeper.oidc.configuration import Configuration

# asymmetric signatures only: with `none` or a shared secret, others than the provider could make tokens
ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA", "Ed25519")
KEY_TYPES = ("RSA", "EC", "OKP")
LEEWAY_SECONDS = 60  # difference between the clocks of the provider and of this machine
MAX_SUBJECT = 255  # characters (OpenID Connect Core, section 2)
UNREADABLE = (ValueError, TypeError, KeyError, RecursionError)  # errors of decoding content that is not JSON
MFA = "mfa"  # value of the claim amr: several factors were used (RFC 8176)


class BadIdToken(Exception):
    """An ID token is not valid; the message says why."""


def check(token: str, keys: Sequence[dict[str, Any]], chosen: Configuration, nonce: str) -> dict[str, Any]:
    """Check signature, issuer, audience, times and nonce of an ID token; return its claims."""
    rules = jwt.JWTClaimsRegistry(
        leeway=LEEWAY_SECONDS,
        iss={"essential": True, "value": chosen.issuer},
        aud={"essential": True, "value": chosen.client_id},
        nonce={"essential": True, "value": nonce},
        sub={"essential": True},
        exp={"essential": True},
        iat={"essential": True},
    )
    try:
        claims = jwt.decode(token, KeySet(_import_keys(keys)), ALGORITHMS).claims
        rules.validate(claims)
    except JoseError as error:
        raise BadIdToken(str(error)) from None
    except UNREADABLE as error:
        raise BadIdToken(f"it cannot be read ({type(error).__name__})") from None
    _check_client(claims, chosen.client_id)
    if not _is_subject(claims["sub"]):
        raise BadIdToken(f"its claim sub is not 1 to {MAX_SUBJECT} printable ASCII characters")
    return claims


def _import_keys(keys: Sequence[dict[str, Any]]) -> list[Key]:
    """Import the keys that sign tokens. One that cannot be read is left out: the others still work."""
    found = list[Key]()
    for each in keys:
        if each.get("kty") in KEY_TYPES and each.get("use", "sig") == "sig":
            with suppress(JoseError, *UNREADABLE):
                key = JWKRegistry.import_key(cast("Any", each))
                key.ensure_kid()
                found.append(key)
    return found


def _is_subject(value: object) -> bool:
    return isinstance(value, str) and 0 < len(value) <= MAX_SUBJECT and value.isascii() and value.isprintable()


def _check_client(claims: Mapping[str, Any], client_id: str) -> None:
    """Refuse a token that was made for another client. One for several clients must name us in the claim azp."""
    audience, party = claims["aud"], claims.get("azp")
    if party != client_id and (party is not None or (isinstance(audience, list) and audience != [client_id])):
        raise BadIdToken("it was made for another client")


def read_identity(claims: Mapping[str, Any], chosen: Configuration) -> ProvenIdentity:
    """Read what a checked ID token says about a person. An email address counts only if the provider verified it."""
    verified = claims.get("email_verified") is True
    return ProvenIdentity(
        issuer=chosen.issuer,
        subject=claims["sub"],
        provider=chosen.host,
        name=_read_text(claims.get("preferred_username")),
        email=_read_text(claims.get("email")) if verified else "",
        groups=_read_list(_find_claim(claims, chosen.claim)),
        second_factor=MFA in _read_list(claims.get("amr")),
    )


def _find_claim(claims: Mapping[str, Any], name: str) -> object:
    """Return a claim by its name, or by a path such as `realm_access.roles`."""
    if name in claims:
        return claims[name]
    found: object = claims
    for part in name.split("."):
        found = cast("dict[str, object]", found).get(part) if isinstance(found, dict) else None
    return found


def _read_text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _read_list(value: object) -> frozenset[str]:
    """Return the texts of a claim, which may be a list or a single text."""
    values = cast("list[object]", value) if isinstance(value, list) else [value]
    return frozenset(each for each in values if isinstance(each, str))
