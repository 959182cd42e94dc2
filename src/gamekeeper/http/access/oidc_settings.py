"""The settings of the OpenID Connect provider, checked at start."""

import ipaddress
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from gamekeeper.game.access.permissions import parse_role_mapping
from gamekeeper.ground.settings import BadSetting, Settings, variable

CALLBACK = "/console/sign-in/oidc/callback"
NEEDED = ("oidc_client_id", "oidc_client_secret_file", "public_url")
OPENID = "openid"  # scope without which a provider sends no ID token


class Configuration(NamedTuple):
    issuer: str
    host: str  # host of the issuer, for buttons and messages
    client_id: str
    client_secret: str
    scopes: str
    claim: str
    callback: str  # address to which the provider sends the browser back


def check(settings: Settings) -> None:
    """Raise BadSetting if the settings for OpenID Connect are invalid or incomplete."""
    read(settings)


def read(settings: Settings) -> Configuration | None:
    """Return the configuration; None: OpenID Connect is off."""
    parse_role_mapping(settings.oidc_roles)
    if not settings.oidc_issuer:
        for name in ("oidc_client_id", "oidc_client_secret_file", "oidc_roles"):
            if getattr(settings, name):
                raise BadSetting(f"{variable(name)} is set, but {variable('oidc_issuer')} is not. Set both or neither.")
        return None
    for name in NEEDED:
        if not getattr(settings, name):
            raise BadSetting(f"{variable('oidc_issuer')} is set, so {variable(name)} is needed too.")
    if not settings.database.startswith("sqlite:") and not settings.secret_key_file:
        needed = f"{variable('secret_key_file')} is needed too: it encrypts the state of a sign-in"
        raise BadSetting(f"{variable('oidc_issuer')} is set, so on PostgreSQL {needed}.")
    if not is_safe(settings.oidc_issuer) or "?" in settings.oidc_issuer:
        problem = "it must be an https:// address, without a query; http:// works only on this machine"
        raise BadSetting(f"{variable('oidc_issuer')} is '{settings.oidc_issuer}'; {problem}.")
    if OPENID not in settings.oidc_scopes.split():
        raise BadSetting(f"{variable('oidc_scopes')} is '{settings.oidc_scopes}'; it must contain {OPENID}.")
    return Configuration(
        issuer=settings.oidc_issuer,
        host=urlsplit(settings.oidc_issuer).netloc,
        client_id=settings.oidc_client_id,
        client_secret=_read_secret(settings.oidc_client_secret_file),
        scopes=settings.oidc_scopes,
        claim=settings.oidc_claim,
        callback=settings.public_url.rstrip("/") + CALLBACK,
    )


def is_safe(url: str) -> bool:
    """Return whether secrets can be sent to an address: over TLS, or to this machine."""
    try:
        parts = urlsplit(url)
        parts.port  # noqa: B018 - raises ValueError for a bad port
    except ValueError:
        return False
    if not url.isascii() or not url.isprintable() or " " in url or "\\" in url:
        return False
    if not parts.hostname or parts.fragment or parts.username is not None:
        return False
    return parts.scheme == "https" or (parts.scheme == "http" and _is_loopback(parts.hostname))


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _read_secret(file: str) -> str:
    try:
        secret = Path(file).read_text(encoding="utf-8").strip()
    except (OSError, ValueError) as error:
        raise BadSetting(f"{variable('oidc_client_secret_file')} is '{file}', which cannot be read: {error}.") from None
    if not secret:
        raise BadSetting(f"{variable('oidc_client_secret_file')} is '{file}', which is empty.")
    return secret
