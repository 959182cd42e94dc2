"""Check the TLS certificate and key before the server starts."""

import ssl
from pathlib import Path

from gamekeeper.settings import BadSetting, Settings

MISSING_OPTION = (
    "HTTPS needs --tls-cert with the certificate chain and --tls-key with its private key; {missing} is missing."
)


def check(settings: Settings) -> None:
    if not settings.tls_cert and not settings.tls_key:
        return
    if not settings.tls_cert or not settings.tls_key:
        raise BadSetting(MISSING_OPTION.format(missing="--tls-key" if settings.tls_cert else "--tls-cert"))
    for option, file in (("--tls-cert", settings.tls_cert), ("--tls-key", settings.tls_key)):
        _require_readable(option, Path(file))
    try:
        # load the key with an empty password: otherwise OpenSSL would prompt for one on the terminal
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(settings.tls_cert, settings.tls_key, password="")
    except ssl.SSLError as error:
        raise BadSetting(_describe_error(settings, error)) from None


def _require_readable(option: str, file: Path) -> None:
    try:
        file.open("rb").close()
    except OSError as error:
        raise BadSetting(f"{option} {file} cannot be read: {error.strerror}.") from None


def _describe_error(settings: Settings, error: ssl.SSLError) -> str:
    both = f"--tls-cert {settings.tls_cert} and --tls-key {settings.tls_key}"
    if error.reason == "KEY_VALUES_MISMATCH":
        return f"{both} do not match: the key belongs to another certificate."
    return f"{both} must be a PEM certificate and its PEM key without a password: {error.reason or error}."
