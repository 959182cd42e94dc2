"""The OpenID Connect provider: the authorization code flow with PKCE, up to a checked ID token.

ID tokens are checked, and say who the person is.
"""

import base64
import hashlib
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast
from urllib.parse import quote_plus, urlencode

import msgspec

from gamekeeper.game.access.console_refusals import ProviderRefused, ProviderUnreachable
from gamekeeper.game.access.credentials import Ticket
from gamekeeper.game.access.identities import ProvenIdentity
from gamekeeper.http.access.oidc_requests import Busy, Fetched, Fetcher, Unreachable
from gamekeeper.http.access.oidc_settings import Configuration, is_safe

if TYPE_CHECKING:
    from joserfc.jwk import Key

DISCOVERY = "/.well-known/openid-configuration"
DISCOVERY_SECONDS = 300.0  # how long a discovery document is used
FAILURE_SECONDS = 5.0  # how long a failed discovery is remembered: visitors cannot make us ask all the time
OK = 200
CLIENT_ERRORS = range(400, 500)  # statuses with which the token endpoint refuses a code or a client
FORM = {"content-type": "application/x-www-form-urlencoded"}
MAX_ERROR = 100  # characters of a provider's error that are shown
UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)  # errors of decoding content that is not JSON
BASIC, POST = "client_secret_basic", "client_secret_post"  # ways to send the client's secret


class Discovery(msgspec.Struct, frozen=True):
    """The fields of a provider's discovery document that a sign-in needs."""

    issuer: str
    authorization_endpoint: str
    token_endpoint: str
    jwks_uri: str
    token_endpoint_auth_methods_supported: tuple[str, ...] = (BASIC,)


class TokenAnswer(msgspec.Struct, frozen=True):
    id_token: str


class TokenError(msgspec.Struct, frozen=True):
    error: str = ""


class JsonWebKeySet(msgspec.Struct, frozen=True):
    keys: list[dict[str, Any]]


Shape = TypeVar("Shape", Discovery, TokenAnswer, JsonWebKeySet)


class AuthorizationRequest(NamedTuple):
    """The random values of one sign-in. They are derived from its ticket, which only this browser has."""

    state: str  # comes back in the address of the callback
    nonce: str  # comes back in the ID token
    verifier: str  # PKCE: the provider gets its hash first, and the text with the code


def make_authorization_request(ticket: Ticket) -> AuthorizationRequest:
    return AuthorizationRequest(ticket.id, _hash_text(f"nonce {ticket.challenge}"), ticket.challenge)


class Provider:
    def __init__(self, configuration: Configuration) -> None:
        self.configuration = configuration
        self._fetcher = Fetcher()
        self._discovery: tuple[float, Discovery] | None = None  # with the time until which it is used
        self._failure: tuple[float, ProviderUnreachable] | None = (
            None  # of the discovery, with the time it counts until
        )

    def close(self) -> None:
        self._fetcher.close()

    async def make_address(self, sent: AuthorizationRequest, *, again: bool = False) -> str:
        """Return the provider's address at which a person signs in. `again`: also if the person has a session there."""
        found, chosen = await self.discover(), self.configuration
        query = {
            "response_type": "code",
            "client_id": chosen.client_id,
            "redirect_uri": chosen.callback,
            "scope": chosen.scopes,
            "state": sent.state,
            "nonce": sent.nonce,
            "code_challenge": _hash_text(sent.verifier),
            "code_challenge_method": "S256",
            **({"prompt": "login"} if again else {}),
        }
        sign = "&" if "?" in found.authorization_endpoint else "?"
        return found.authorization_endpoint + sign + urlencode(query)

    async def prove(self, sent: AuthorizationRequest, code: str) -> ProvenIdentity:
        """Exchange a code for the ID token, and check it. The keys are read each time, so new keys work at once."""
        found = await self.discover()
        answer = await self._fetch(found.token_endpoint, *self._make_token_request(found, sent, code))
        if answer.status in CLIENT_ERRORS:
            raise self.refuse(_read_error(answer))
        if answer.status != OK:
            raise self._make_unreachable(f"it answered {answer.status} to the request for the ID token")
        token = self._decode(answer.content, TokenAnswer).id_token
        published = await self._fetch(found.jwks_uri)
        if published.status != OK:
            raise self._make_unreachable(f"it answered {published.status} to the request for its keys")
        keys = self._decode(published.content, JsonWebKeySet).keys
        try:
            claims = check_id_token(token, keys, self.configuration, sent.nonce)
        except BadIdToken as bad:
            raise self._make_refusal(f"its ID token is not valid: {bad}") from None
        return read_identity(claims, self.configuration)

    async def discover(self) -> Discovery:
        """Return the provider's discovery document. Its issuer must be exactly the one of the setting."""
        if self._discovery and self._discovery[0] > time.monotonic():
            return self._discovery[1]
        if self._failure and self._failure[0] > time.monotonic():
            raise self._failure[1].with_traceback(None)
        try:
            found = await self._read_discovery()
        except ProviderUnreachable as failure:
            if not isinstance(failure.__cause__, Busy):
                self._failure = time.monotonic() + FAILURE_SECONDS, failure
            raise
        self._discovery = time.monotonic() + DISCOVERY_SECONDS, found
        return found

    async def _read_discovery(self) -> Discovery:
        issuer = self.configuration.issuer
        answer = await self._fetch(issuer.rstrip("/") + DISCOVERY)
        if answer.status != OK:
            raise self._make_unreachable(f"it answered {answer.status} to the request for its discovery document")
        found = self._decode(answer.content, Discovery)
        if found.issuer != issuer:
            raise self._make_unreachable(f"its issuer is '{found.issuer}', but GAMEKEEPER_OIDC_ISSUER is '{issuer}'")
        if not all(map(is_safe, (found.authorization_endpoint, found.token_endpoint, found.jwks_uri))):
            raise self._make_unreachable("its discovery document has an address that is not https://")
        return found

    def refuse(self, error: str) -> ProviderRefused:
        """Return the refusal for an error that the provider sent in the address of the callback."""
        return self._make_refusal(f"it answered with '{error[:MAX_ERROR]}'")

    def _make_token_request(
        self, found: Discovery, sent: AuthorizationRequest, code: str
    ) -> tuple[bytes, dict[str, str]]:
        chosen = self.configuration
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": chosen.callback,
            "code_verifier": sent.verifier,
        }
        ways = found.token_endpoint_auth_methods_supported
        if POST in ways and BASIC not in ways:
            form |= {"client_id": chosen.client_id, "client_secret": chosen.client_secret}
            return urlencode(form).encode(), FORM
        pair = f"{quote_plus(chosen.client_id)}:{quote_plus(chosen.client_secret)}"
        basic = base64.b64encode(pair.encode()).decode()
        return urlencode(form).encode(), {**FORM, "authorization": f"Basic {basic}"}

    async def _fetch(self, url: str, body: bytes | None = None, headers: dict[str, str] | None = None) -> Fetched:
        try:
            return await self._fetcher.fetch(url, body, headers)
        except Unreachable as problem:
            raise self._make_unreachable(str(problem)) from problem

    def _decode(self, content: bytes, kind: type[Shape]) -> Shape:
        try:
            return msgspec.json.decode(content, type=kind)
        except UNREADABLE as error:
            raise self._make_unreachable(f"its answer cannot be read: {error}") from None

    def _make_refusal(self, problem: str) -> ProviderRefused:
        return ProviderRefused(provider=self.configuration.host, problem=problem)

    def _make_unreachable(self, problem: str) -> ProviderUnreachable:
        return ProviderUnreachable(provider=self.configuration.host, problem=problem)


def _read_error(answer: Fetched) -> str:
    """Return the error code of a token endpoint's answer (RFC 6749), or its status."""
    try:
        return msgspec.json.decode(answer.content, type=TokenError).error or str(answer.status)
    except UNREADABLE:
        return str(answer.status)


def _hash_text(text: str) -> str:
    """Return the SHA-256 of a text in base64url, without padding: the PKCE method S256."""
    return base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=").decode()


# asymmetric signatures only: with `none` or a shared secret, others than the provider could make tokens
ALGORITHMS = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA", "Ed25519")
KEY_TYPES = ("RSA", "EC", "OKP")
LEEWAY_SECONDS = 60  # difference between the clocks of the provider and of this machine
MAX_SUBJECT = 255  # characters (OpenID Connect Core, section 2)
UNREADABLE_TOKEN = (ValueError, TypeError, KeyError, RecursionError)  # errors of decoding content that is not JSON
MFA = "mfa"  # value of the claim amr: several factors were used (RFC 8176)


class BadIdToken(Exception):
    """An ID token is not valid; the message says why."""


def check_id_token(token: str, keys: Sequence[dict[str, Any]], chosen: Configuration, nonce: str) -> dict[str, Any]:
    """Check signature, issuer, audience, times and nonce of an ID token; return its claims."""
    from joserfc import jwt  # noqa: PLC0415 - imported with the first ID token, so that the server starts fast
    from joserfc.errors import JoseError  # noqa: PLC0415 - as above
    from joserfc.jwk import KeySet  # noqa: PLC0415 - as above

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
    except UNREADABLE_TOKEN as error:
        raise BadIdToken(f"it cannot be read ({type(error).__name__})") from None
    _check_client(claims, chosen.client_id)
    if not _is_subject(claims["sub"]):
        raise BadIdToken(f"its claim sub is not 1 to {MAX_SUBJECT} printable ASCII characters")
    return claims


def _import_keys(keys: Sequence[dict[str, Any]]) -> "list[Key]":
    """Import the keys that sign tokens. One that cannot be read is left out: the others still work."""
    from joserfc.errors import JoseError  # noqa: PLC0415 - as above
    from joserfc.jwk import JWKRegistry  # noqa: PLC0415 - as above

    found: list[Key] = []
    for each in keys:
        if each.get("kty") in KEY_TYPES and each.get("use", "sig") == "sig":
            with suppress(JoseError, *UNREADABLE_TOKEN):
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
