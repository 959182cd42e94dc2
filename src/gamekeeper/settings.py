"""Everything an operator may change: one frozen table, read once at start, passed in, never global."""

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from difflib import get_close_matches
from typing import Any

PREFIX = "GAMEKEEPER_"
LIST_HINT = "`gamekeeper settings` lists those that there are."
MAX_INT = 2**31 - 1
MAX_DIGITS = 20
MASK = "…"
# variables that are read elsewhere: by the examples, the battery and the tests
OTHER_VARIABLES = frozenset(
    {"TOKEN", "BATTERY_CRASH", "TEST_POSTGRES", "CHROMIUM", "SCREENSHOTS", "TOUR_PLAYERS", "BROWSER_ENGINE"}
)


class BadSetting(Exception):
    """A setting has a value it cannot have."""


def setting(
    default: object,
    meaning: str,
    *,
    secret: Callable[[str], str] | None = None,  # what may be told of it
    least: int = 0,
    most: int = MAX_INT,
) -> Any:  # noqa: ANN401 - the field's own annotation is the type; dataclasses.field is typed the same way
    return field(default=default, metadata={"help": meaning, "secret": secret, "least": least, "most": most})


def mask_passwords(url: str) -> str:
    """Of what is no URL, because it was mistyped, nothing is told that may hold one."""
    scheme, separator, rest = url.partition("://")
    if not separator:
        return MASK if {*":@="} & {*url} else url
    rest = re.sub("(?i)(password=)[^&]*", rf"\1{MASK}", rest)
    credentials, at, place = rest.rpartition("@")
    return f"{scheme}://{re.sub(':.*', f':{MASK}', credentials)}{at}{place}"


def mask_all(secret: str) -> str:
    return MASK if secret else ""


@dataclass(frozen=True, slots=True)
class Settings:
    database: str = setting(
        "sqlite:///gamekeeper.db", "Where the data is: sqlite:///file or postgresql://…", secret=mask_passwords
    )
    host: str = setting("127.0.0.1", "Address to listen on.")
    port: int = setting(5400, "Port to listen on.", least=1, most=65_535)
    health_port: int = setting(
        0, "Port for /health/live and /health/ready in a thread of its own; 0: only on `port`.", most=65_535
    )
    workers: int = setting(1, "Processes that serve; more than one needs PostgreSQL.", least=1)
    connections: int = setting(8, "PostgreSQL connections per process.", least=1)
    synchronous_standbys: int = setting(
        0, "Synchronous standbys that PostgreSQL should have; with fewer, serve warns and doctor reports an error."
    )
    tls_cert: str = setting("", "Certificate chain (PEM) to serve HTTPS with; empty: plain HTTP.")
    tls_key: str = setting("", "Private key (PEM) of tls_cert.")
    trusted_proxies: str = setting(
        "",
        "Addresses or networks, with commas, whose X-Forwarded-For and -Proto are believed; empty: nobody's. "
        "Name your proxies, and sites that check passwords: wrong passwords are limited per forwarded address.",
    )
    cors_origins: str = setting(
        "", "Web origins, with commas, whose pages may call the API from a browser; empty: none."
    )
    requests_in_flight: int = setting(
        128, "Requests that a process works on at once; one more is turned away with 503.", least=1
    )
    open_connections: int = setting(1024, "Connections that a process keeps open at once.", least=1)
    head_seconds: int = setting(
        5, "Seconds a caller may take to send a request's head, and that a connection may idle.", least=1, most=60
    )
    receive_seconds: int = setting(10, "Seconds a caller may take to send a request's body.", least=1, most=60)
    statement_seconds: int = setting(
        30, "Seconds after which PostgreSQL gives up a statement of a request; a COMMIT never.", least=1
    )
    stop_seconds: int = setting(30, "Seconds that requests under way have to end after SIGTERM.", least=1, most=600)
    console: bool = setting(True, "The console for people at /console.")
    console_hours: int = setting(12, "Hours after which whoever is signed in to the console signs in again.", least=1)
    console_idle_minutes: int = setting(
        60, "Minutes without a click after which the console asks to sign in again.", least=5
    )
    metrics_token: str = setting(
        "",
        "What Prometheus must send as its bearer token to read /metrics; empty: there is no /metrics.",
        secret=mask_all,
    )
    access_log: bool = setting(True, "One JSON line per request on standard error.")
    game_name: str = setting("Gamekeeper", "The game's name, as people know it.")
    max_page_size: int = setting(100, "Largest page of a list; larger requests are cut to it.", least=1)
    inventory_slots: int = setting(35, "Inventory slots of a character.", least=1)
    bank_slots: int = setting(100, "Bank slots of a character.", least=1)
    spell_slots: int = setting(35, "Spells a character can know.", least=1)
    max_characters: int = setting(
        1, "Characters of one account, as sites are told; the game itself holds to it.", least=1
    )
    max_level: int = setting(100, "Highest level of a character; sites are told.", least=1)
    stack_cap: int = setting(1_000_000, "Most items in one slot, unless the item says otherwise.", least=1)
    name_pattern: str = setting("[A-Za-z0-9]{2,20}", "What new names of accounts and characters must match.")
    min_password_length: int = setting(
        10, "Fewest characters of a password that is typed in the console or on the command line.", least=8, most=64
    )
    trade_minutes: int = setting(
        10,
        "Minutes around a game's report within which another player's gain of the same item blocks its undo; 0: never.",
        least=0,
    )
    access_minutes: int = setting(60, "Life of an access token.", least=1)
    refresh_days: int = setting(7, "Life of a refresh token.", least=1)
    refresh_grace_seconds: int = setting(30, "How long a refresh token works on after it was exchanged.", least=0)
    guesses_per_caller: int = setting(
        10, "Wrong passwords for one account by one caller and client address in five minutes.", least=1
    )
    guesses_per_account: int = setting(50, "Wrong passwords for one account by all callers in five minutes.", least=1)
    guesses_per_address: int = setting(
        200, "Wrong passwords from one address, for whichever accounts, in five minutes.", least=1
    )
    registrations_per_caller: int = setting(1000, "Accounts that one caller may register in an hour.", least=1)
    hash_queue: int = setting(16, "Passwords waiting to be hashed before new ones are turned away.", least=1)
    key_days: int = setting(30, "Days that the answer to an Idempotency-Key is kept.", least=1)
    token_days: int = setting(1, "Days that a token is listed after its end.", least=1)
    mail_days: int = setting(7, "Days that a mail which was sent or given up is listed.", least=1)
    ledger_days: int = setting(0, "Days that changes are kept in the ledger; 0: for ever.", least=0)
    body_limit: int = setting(65_536, "Largest request body in bytes.", least=1024)
    link_body_limit: int = setting(8_388_608, "Largest request body on the game link in bytes.", least=1024)
    smtp_url: str = setting(
        "",
        "Where mail leaves: smtp://user:pass@host:port or smtps://…, see docs/mail.md; empty: nowhere, it waits.",
        secret=mask_passwords,
    )
    smtp_timeout: int = setting(15, "Seconds an SMTP server may take to answer one command.", least=1, most=300)
    mail_from: str = setting("", "Sender address of the mails, or Name <address>; needed with smtp_url.")
    mail_templates: str = setting("", "Folder with mail templates of one's own; those missing there are ours.")
    reset_url: str = setting("", "Link in reset mails, with {name} and {code} in it; empty: only the code.")
    resets_per_account: int = setting(3, "Reset mails for one account in an hour.", least=1)
    resets_per_caller: int = setting(1000, "Reset mails that one caller may ask for in an hour.", least=1)


def variable(name: str) -> str:
    return PREFIX + name.upper()


def load(environment: Mapping[str, str] = os.environ, **given: object) -> Settings:
    """The given values win over the environment, the environment over the defaults."""
    values: dict[str, object] = {}
    for each in fields(Settings):
        text = environment.get(variable(each.name))
        if given.get(each.name) is not None:
            values[each.name] = given[each.name]
        elif text is not None:
            values[each.name] = _parse(each.name, text, each.default)
        _check(each.name, values.get(each.name, each.default), each.metadata["least"], each.metadata["most"])
    _check_pattern(values.get("name_pattern", ""))
    return Settings(**values)  # pyright: ignore[reportArgumentType] - each value was parsed to its field's type just above


def find_source(name: str, environment: Mapping[str, str] = os.environ) -> str:
    return variable(name) if variable(name) in environment else "default"


def describe_unknown(environment: Mapping[str, str] = os.environ) -> list[str]:
    """A sentence for each variable that looks like a setting and is none: most likely it is misspelt."""
    known = [each.name.upper() for each in fields(Settings)]
    named = {name.removeprefix(PREFIX) for name in environment if name.startswith(PREFIX)}
    return [
        _describe_unknown(name, get_close_matches(name, known, 1))
        for name in sorted(named - OTHER_VARIABLES - {*known})
    ]


def _describe_unknown(name: str, near: Sequence[str]) -> str:
    return f"{variable(name)} is no setting, so it does nothing. {f'Is it {variable(near[0])}?' if near else LIST_HINT}"


def describe(name: str) -> str:
    return next(str(each.metadata["help"]) for each in fields(Settings) if each.name == name)


def show_value(settings: Settings, name: str) -> str:
    """A setting's value for people: a secret is masked, but empty stays visibly empty."""
    metadata = next(each.metadata for each in fields(Settings) if each.name == name)
    value: object = getattr(settings, name)
    if isinstance(value, bool):
        return str(value).lower()
    masked = metadata["secret"]
    return masked(str(value)) if masked else str(value)


def _parse(name: str, text: str, default: object) -> object:
    if default is MISSING or isinstance(default, str):
        return text
    if isinstance(default, bool):
        if text.lower() in {"true", "false"}:
            return text.lower() == "true"
        raise BadSetting(f"{variable(name)} is '{text}'; it must be true or false.")
    if text.isascii() and text.isdigit() and len(text) <= MAX_DIGITS:
        return int(text)
    raise BadSetting(f"{variable(name)} is '{text}'; it must be a whole number.")


def _check(name: str, value: object, least: int, most: int) -> None:
    if isinstance(value, int) and not least <= value <= most:
        raise BadSetting(f"{variable(name)} is {value}; it must be from {least} to {most}.")


def _check_pattern(value: object) -> None:
    try:
        re.compile(str(value))
    except re.error as error:
        raise BadSetting(f"{variable('name_pattern')} is '{value}'; it must be a pattern: {error}.") from None
