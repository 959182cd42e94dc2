"""All settings: read once at start into an immutable object, which is passed to the parts that need it."""

import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from difflib import get_close_matches
from typing import Any

PREFIX = "GAMEKEEPER_"
LIST_HINT = "List all settings with: gamekeeper settings"
MAX_INT = 2**31 - 1
MOST_PAGE_ROWS = 1_000  # rows of a page that are read and encoded at once: a few milliseconds
MAX_DIGITS = 20  # longest number in a setting, in digits; longer numbers are out of range for every setting
MASK = "…"
LANGUAGES = ("en", "de")  # of the console and the mails
# environment variables with our prefix that are no settings: used by the examples, the battery and the tests
OTHER_VARIABLES = frozenset({"TOKEN", "BATTERY_CRASH", "TEST_POSTGRES", "CHROMIUM", "SCREENSHOTS", "TOUR_PLAYERS"})


class BadSetting(Exception):
    """A setting has an invalid value; the message says which and what is allowed."""


def setting(
    default: object,
    meaning: str,
    *,
    secret: Callable[[str], str] | None = None,  # function that masks the secrets in a setting's value
    least: int = 0,
    most: int = MAX_INT,
) -> Any:  # noqa: ANN401 - the field's own annotation is the type; dataclasses.field is typed the same way
    return field(default=default, metadata={"help": meaning, "secret": secret, "least": least, "most": most})


def mask_passwords(url: str) -> str:
    """Mask the passwords in a URL. Mask all of a mistyped URL if it may contain a password."""
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
        "sqlite:///gamekeeper.db", "Database URL: sqlite:///file or postgresql://…", secret=mask_passwords
    )
    host: str = setting("127.0.0.1", "Address to listen on.")
    port: int = setting(5400, "Port to listen on.", least=1, most=65_535)
    health_port: int = setting(
        0, "Extra port for /health/live and /health/ready, served by a separate thread; 0: only on `port`.", most=65_535
    )
    workers: int = setting(1, "Worker processes; more than one needs PostgreSQL.", least=1)
    connections: int = setting(8, "PostgreSQL connections per process.", least=1)
    synchronous_standbys: int = setting(
        0, "Expected number of synchronous PostgreSQL standbys; with fewer, serve warns and doctor reports an error."
    )
    tls_cert: str = setting("", "Certificate chain (PEM) to serve HTTPS with; empty: plain HTTP.")
    tls_key: str = setting("", "Private key (PEM) of tls_cert.")
    trusted_proxies: str = setting(
        "",
        "Trusted proxies (addresses or networks, separated by commas) for X-Forwarded-For and -Proto; empty: none. "
        "List your proxies, and websites that check passwords: wrong passwords are limited per forwarded address.",
    )
    cors_origins: str = setting(
        "", "Web origins, separated by commas, whose pages may call the API from a browser; empty: none."
    )
    requests_in_flight: int = setting(
        128, "Concurrent requests per process; further requests are rejected with 503.", least=1
    )
    open_connections: int = setting(1024, "Open connections per process.", least=1)
    head_seconds: int = setting(
        5, "Timeout in seconds for receiving a request's headers, and for idle connections.", least=1, most=60
    )
    receive_seconds: int = setting(10, "Timeout in seconds for receiving a request's body.", least=1, most=60)
    statement_seconds: int = setting(
        30, "Timeout in seconds of a request's PostgreSQL statements, except COMMIT.", least=1
    )
    stop_seconds: int = setting(30, "Time in seconds for running requests to finish at shutdown.", least=1, most=600)
    console: bool = setting(True, "Whether to serve the web console at /console.")
    console_hours: int = setting(12, "Longest session in the console, in hours.", least=1)
    console_idle_minutes: int = setting(60, "Idle time in minutes after which a session in the console ends.", least=5)
    metrics_token: str = setting(
        "",
        "Bearer token that Prometheus needs to read /metrics; empty: /metrics is off.",
        secret=mask_all,
    )
    public_url: str = setting(
        "",
        "Address at which people open the console, such as https://keeper.example; "
        "for passkeys, invitations and OpenID Connect.",
    )
    access_log: bool = setting(True, "Whether to log each request on standard error, except for static files.")
    log_json: bool = setting(
        False, "Whether the log is JSON lines on a terminal too. Written to a file or a pipe, it always is."
    )
    game_name: str = setting("Gamekeeper", "The game's name, shown in mails and in the console.")
    language: str = setting(
        "",
        "Language of the console and the mails: en or de; empty: the console has the browser's language, and mails are "
        "in English.",
    )
    max_page_size: int = setting(
        100, "Largest page size of a list; larger requests get this size.", least=1, most=MOST_PAGE_ROWS
    )
    inventory_slots: int = setting(35, "Inventory slots of a player.", least=1)
    bank_slots: int = setting(100, "Bank slots of a player.", least=1)
    spell_slots: int = setting(35, "Spell slots of a player.", least=1)
    max_characters: int = setting(1, "Players per account, as reported to websites; the game enforces it.", least=1)
    max_level: int = setting(100, "Highest level of a player; also reported to websites.", least=1)
    stack_cap: int = setting(1_000_000, "Largest quantity in one slot, unless the item has its own limit.", least=1)
    name_pattern: str = setting(
        "[A-Za-z0-9]{2,20}", "Regular expression that new names of accounts and players must match."
    )
    min_password_length: int = setting(
        10, "Shortest password that the console and the command line accept.", least=8, most=64
    )
    ranked: str = setting(
        "",
        "Items and variables whose holders are ranked completely, separated by commas: item:NAME or variable:NAME, or "
        "with an id; at most 20. Empty: none. See docs/economy.md.",
    )
    signals: str = setting(
        "",
        "Limits of the rules of signals, separated by commas, such as gain=50000 or silent=off. Empty: the defaults. "
        "See docs/signals.md.",
    )
    public_boards: bool = setting(
        False,
        "Whether public boards and players can be read without a token, under /api/public/v1. See docs/boards.md.",
    )
    public_fields: str = setting(
        "", "Fields of a player that are public besides name, level, class and rank, separated by commas."
    )
    public_per_minute: int = setting(
        120,
        "Requests per minute and address (IPv6: /64 network) to the public side; each process counts its own.",
        least=1,
    )
    trade_minutes: int = setting(
        10,
        "An undo of a game's change is refused if another player gained the item within this many minutes; 0: never.",
        least=0,
    )
    command_seconds: int = setting(
        60,
        "Time in seconds after which a kill, a warp or a chat message expires.",
        least=1,
    )
    chat_characters: int = setting(500, "Longest chat message into the game, in characters.", least=1)
    chat_per_minute: int = setting(60, "Chat messages per account and minute, in each process.", least=1)
    delivery_warning_seconds: int = setting(
        30, "Time in seconds after which a command that no game has acknowledged counts as overdue.", least=1
    )
    access_minutes: int = setting(60, "Lifetime of an access token in minutes.", least=1)
    refresh_days: int = setting(7, "Lifetime of a refresh token in days.", least=1)
    refresh_grace_seconds: int = setting(
        30, "Seconds for which a refresh token still works after it was exchanged.", least=0
    )
    second_factor_roles: str = setting(
        "",
        "Roles, separated by commas, whose accounts need a second factor; empty: none. See docs/second-factors.md.",
    )
    staff_without_second_factor: bool = setting(
        True,
        "Whether a token of an account without a second factor can manage staff and keys; console sessions always can.",
    )
    secret_key_file: str = setting(
        "",
        "File with the key that encrypts TOTP secrets: 32 bytes in base64. Needed for second factors on PostgreSQL; "
        "empty on SQLite: made beside the database. Backups do not contain it.",
    )
    oidc_issuer: str = setting(
        "",
        "Address of an OpenID Connect provider with which staff sign in to the console, such as https://id.example; "
        "empty: passwords only. See docs/openid-connect.md.",
    )
    oidc_client_id: str = setting("", "Id of this server's client at the OpenID Connect provider.")
    oidc_client_secret_file: str = setting("", "File with the secret of this server's client at the provider.")
    oidc_scopes: str = setting("openid profile email", "Scopes that a sign-in asks the provider for.")
    oidc_claim: str = setting(
        "groups", "Claim of the ID token with a person's groups; realm_access.roles reads a field inside a claim."
    )
    oidc_roles: str = setting(
        "",
        "Roles that a sign-in gives and takes, by the values of the claim: ops=admin,support=moderator; empty: none.",
    )
    guesses_per_caller: int = setting(
        10, "Wrong passwords allowed in five minutes for one account from one caller and client address.", least=1
    )
    guesses_per_account: int = setting(
        50, "Wrong passwords allowed in five minutes for one account from all callers.", least=1
    )
    guesses_per_address: int = setting(
        200, "Wrong passwords allowed in five minutes from one client address for all accounts.", least=1
    )
    registrations_per_caller: int = setting(1000, "Accounts that one caller may register per hour.", least=1)
    hash_queue: int = setting(16, "Passwords that may wait for hashing; further ones are rejected with 503.", least=1)
    key_days: int = setting(30, "Days for which the answer to an Idempotency-Key is stored.", least=1)
    token_days: int = setting(1, "Days for which an expired or revoked token is still listed.", least=1)
    mail_days: int = setting(7, "Days for which a sent, failed or expired mail is still listed.", least=1)
    security_days: int = setting(180, "Days for which the security log keeps events.", least=1)
    log_days: int = setting(90, "Days for which the game's logs of activity and trades are kept; 0: forever.", least=0)
    session_days: int = setting(
        90, "Days for which play sessions are kept; 0: forever. Numbers over time stay.", least=0
    )
    approvals: str = setting(
        "",
        "Rules that hold a change until a second person approves it, separated by commas: a permission such as "
        "people.erase, items.give>10000 for gifts beyond 10,000 of an item on a UTC day, or bulk.run>100 for bulk jobs "
        "with more than 100 players; empty: none.",
    )
    bulk_days: int = setting(180, "Days for which bulk jobs are listed, with the result for each player.", least=1)
    bulk_previews: int = setting(
        10, "Bulk jobs of an account that can wait for their start; they are deleted after a day.", least=1
    )
    approval_hours: int = setting(24, "Hours after which a change that waits for approval expires.", least=1, most=8760)
    approval_days: int = setting(180, "Days for which approvals are listed after their request.", least=1)
    ledger_days: int = setting(0, "Days for which the audit log keeps changes; 0: forever.", least=0)
    body_limit: int = setting(65_536, "Largest request body in bytes.", least=1024)
    link_body_limit: int = setting(8_388_608, "Largest request body on the game link in bytes.", least=1024)
    smtp_url: str = setting(
        "",
        "SMTP server: smtp://user:pass@host:port or smtps://…, see docs/mail.md; empty: mails stay queued.",
        secret=mask_passwords,
    )
    smtp_timeout: int = setting(15, "Timeout in seconds of one SMTP command.", least=1, most=300)
    mail_from: str = setting("", "Sender of the mails: address or Name <address>; required with smtp_url.")
    mail_templates: str = setting("", "Folder with your own mail templates; missing ones use the defaults.")
    reset_url: str = setting("", "Link in reset mails, containing {name} and {code}; empty: only the code.")
    invitation_hours: int = setting(72, "Hours for which an invitation of staff can be accepted.", least=1, most=8760)
    resets_per_account: int = setting(3, "Reset mails per account and hour.", least=1)
    resets_per_caller: int = setting(1000, "Reset mails per caller and hour.", least=1)


def variable(name: str) -> str:
    return PREFIX + name.upper()


def load(environment: Mapping[str, str] = os.environ, **given: object) -> Settings:
    """Build the settings. Arguments override environment variables, which override the defaults."""
    values: dict[str, object] = {}
    for each in fields(Settings):
        text = environment.get(variable(each.name))
        if given.get(each.name) is not None:
            values[each.name] = given[each.name]
        elif text is not None:
            values[each.name] = _parse(each.name, text, each.default)
        _check(each.name, values.get(each.name, each.default), each.metadata["least"], each.metadata["most"])
    _check_pattern(values.get("name_pattern", ""))
    _check_public_url(str(values.get("public_url", "")))
    _check_language(str(values.get("language", "")))
    made = Settings(**values)  # pyright: ignore[reportArgumentType] - each value was parsed to its field's type just above
    _check_approval_hours(made)
    return made


def find_source(name: str, environment: Mapping[str, str] = os.environ) -> str:
    return variable(name) if variable(name) in environment else "default"


def describe_unknown(environment: Mapping[str, str] = os.environ) -> list[str]:
    """Return a warning for each environment variable with our prefix that is no setting, most likely misspelt."""
    known = [each.name.upper() for each in fields(Settings)]
    named = {name.removeprefix(PREFIX) for name in environment if name.startswith(PREFIX)}
    return [
        _describe_unknown(name, get_close_matches(name, known, 1))
        for name in sorted(named - OTHER_VARIABLES - {*known})
    ]


def _describe_unknown(name: str, near: Sequence[str]) -> str:
    hint = f"Did you mean {variable(near[0])}?" if near else LIST_HINT
    return f"{variable(name)} is not a setting and has no effect. {hint}"


def describe(name: str) -> str:
    return next(str(each.metadata["help"]) for each in fields(Settings) if each.name == name)


def show_value(settings: Settings, name: str) -> str:
    """Return a setting's value as text, with secrets masked. An empty secret stays empty."""
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


def _check_public_url(url: str) -> None:
    if url and not re.fullmatch(r"https?://[^\s/?#@]+/?", url):
        raise BadSetting(
            f"{variable('public_url')} is '{url}'; it must be an address without a path, such as https://keeper.example.org."
        )


def _check_language(language: str) -> None:
    if language and language not in LANGUAGES:
        raise BadSetting(f"{variable('language')} is '{language}'; it must be {' or '.join(LANGUAGES)}, or empty.")


def _check_approval_hours(settings: Settings) -> None:
    """Require that a held request waits no longer than its Idempotency-Key is stored: a retry would be held anew."""
    hours, days = settings.approval_hours, settings.key_days
    if hours > days * 24:
        raise BadSetting(
            f"{variable('approval_hours')} is {hours}; it must be at most {days * 24}, because "
            f"{variable('key_days')} is {days}."
        )


def _check_pattern(value: object) -> None:
    try:
        re.compile(str(value))
    except re.error as error:
        raise BadSetting(
            f"{variable('name_pattern')} is '{value}'; it must be a regular expression: {error}."
        ) from None
