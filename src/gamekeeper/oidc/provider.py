"""The OpenID Connect provider: the authorization code flow with PKCE, up to a checked ID token."""

import base64
import hashlib
import time
from typing import Any, NamedTuple, TypeVar
from urllib.parse import quote_plus, urlencode

import msgspec

from gamekeeper.game.identities import ProvenIdentity
from gamekeeper.game.identity_refusals import ProviderRefused, ProviderUnreachable
from gamekeeper.game.tickets import Ticket
from gamekeeper.oidc.configuration import Configuration, is_safe
from gamekeeper.oidc.fetching import Busy, Fetched, Fetcher, Unreachable

DISCOVERY = "/.well-known/openid-configuration"
DISCOVERY_SECONDS = 300.0  # how long a discovery document is used
FAILURE_SECONDS = 5.0  # how long a failed discovery is remembered: visitors cannot make us ask all the time
OK = 200
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
        from gamekeeper.oidc import id_tokens  # noqa: PLC0415 - imported with the first sign-in, so that the server starts fast

        found = await self.discover()
        answer = await self._fetch(found.token_endpoint, *self._make_token_request(found, sent, code))
        if answer.status != OK:
            raise self.refuse(_read_error(answer))
        token = self._decode(answer.content, TokenAnswer).id_token
        published = await self._fetch(found.jwks_uri)
        if published.status != OK:
            raise self._make_unreachable(f"it answered {published.status} to the request for its keys")
        keys = self._decode(published.content, JsonWebKeySet).keys
        try:
            claims = id_tokens.check(token, keys, self.configuration, sent.nonce)
        except id_tokens.BadIdToken as bad:
            raise self._make_refusal(f"its ID token is not valid: {bad}") from None
        return id_tokens.read_identity(claims, self.configuration)

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
