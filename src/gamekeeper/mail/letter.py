"""What is in a mail: the templates, an operator's or ours, filled in for one account."""

import html
import re
import string
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.headerregistry import Address
from email.message import EmailMessage
from email.utils import format_datetime, parseaddr
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from email_validator import EmailNotValidError, validate_email

from gamekeeper.game.credentials import CODE_LIFE_MS
from gamekeeper.settings import BadSetting, Settings, variable

OURS = Path(__file__).parent / "templates"
SUBJECT, TEXT, HTML = "reset.subject", "reset.txt", "reset.html"
WORDS = ("game", "name", "code", "minutes", "link")
CARRYING = {"code", "link"}  # a body without either would be of no use
_LINK = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://\S+")
_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


class BadAddress(Exception):
    """No mail can be sent to this address."""


class Facts(NamedTuple):
    """What a mail says, and to whom."""

    mail_id: str
    name: str
    address: str
    code: str
    queued_at: int


@dataclass(frozen=True, slots=True)
class Letters:
    """Writes them; read once, so that a template spoilt later cannot stop a mail."""

    game: str
    sender: Address
    reset_url: str
    templates: Mapping[str, string.Template]

    def reset(self, facts: Facts) -> EmailMessage:
        """The same message, with the same Message-ID, however often it is written."""
        words = self._words(facts)
        message = EmailMessage()
        message["Subject"] = one_line(self._filled(SUBJECT, words, str))
        message["From"] = self.sender
        message["To"] = deliverable(facts.address)
        message["Date"] = format_datetime(datetime.fromtimestamp(facts.queued_at // 1000, UTC))
        message["Message-ID"] = f"<{facts.mail_id}@{self.sender.domain}>"
        message["Auto-Submitted"] = "auto-generated"  # so that no out-of-office note answers it
        message.set_content(self._filled(TEXT, words, str))
        message.add_alternative(self._filled(HTML, words, html.escape), subtype="html")
        return message

    def _words(self, facts: Facts) -> dict[str, str]:
        name, code = one_line(facts.name), facts.code
        link = self.reset_url.replace("{name}", quote(name, safe="")).replace("{code}", quote(code, safe=""))
        minutes = str(CODE_LIFE_MS // 60_000)
        return {"game": self.game, "name": name, "code": code, "minutes": minutes, "link": link}

    def _filled(self, template: str, words: Mapping[str, str], escape: Callable[[str], str]) -> str:
        return self.templates[template].substitute({word: escape(value) for word, value in words.items()})


def letters(settings: Settings) -> Letters:
    """All that can be wrong with the settings about letters is said here."""
    url = settings.reset_url
    if url and (not _LINK.fullmatch(url) or set(re.findall(r"\{(.*?)\}", url)) - {"name"} != {"code"}):
        wanted = "an address with {code}, and maybe {name}, in it, such as https://example.org/reset?code={code}"
        raise BadSetting(f"{variable('reset_url')} is '{url}'; it must be {wanted}.")
    templates = {name: _template(settings, name) for name in (SUBJECT, TEXT, HTML)}
    return Letters(one_line(settings.game_name), _sender(settings), url, templates)


def one_line(text: str) -> str:
    """Fit for a header: no line ends, no control characters."""
    return " ".join(_UNPRINTABLE.sub(" ", text).split())


def deliverable(address: str, name: str = "") -> Address:
    """As a server takes it; imported accounts can have any text for an address, or none."""
    try:
        found = validate_email(address, check_deliverability=False, globally_deliverable=False)
    except EmailNotValidError as error:
        raise BadAddress(f"The address is not one that mail can be sent to: {error}") from None
    return Address(name, found.local_part, found.ascii_domain)


def _sender(settings: Settings) -> Address:
    if not settings.mail_from:
        raise BadSetting(
            f"{variable('smtp_url')} is set and {variable('mail_from')} is not; set it to the address mails are from."
        )
    name, address = parseaddr(settings.mail_from)
    if _UNPRINTABLE.search(settings.mail_from):
        address = ""
    try:
        return deliverable(address, one_line(name or settings.game_name))
    except BadAddress:
        seen = settings.mail_from
        raise BadSetting(f"{variable('mail_from')} is '{seen}'; it must be an address, or Name <address>.") from None


def _template(settings: Settings, name: str) -> string.Template:
    folder = settings.mail_templates
    if folder and not Path(folder).is_dir():
        raise BadSetting(f"{variable('mail_templates')} is '{folder}'; there is no such folder.")
    own = Path(folder) / name if folder else OURS / name
    path = own if own.exists() else OURS / name
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadSetting(f"The mail template {path} cannot be read: {error}. It must be a file in UTF-8.") from None
    template = string.Template(text if settings.reset_url else _without_link(text))
    problem = _problem(template, name)
    if problem:
        raise BadSetting(f"The mail template {path} {problem}.")
    return template


def _without_link(text: str) -> str:
    """Where there is no link to show, the lines that would show it are left out, with the gap they leave."""
    kept = [line for line in text.splitlines(keepends=True) if not re.search(r"\$(link\b|\{link\})", line)]
    return re.sub(r"\n{3,}", "\n\n", "".join(kept))


def _problem(template: string.Template, name: str) -> str | None:
    if not template.is_valid():
        return "has a $ that starts no word; write $$ for a dollar sign"
    words = set(template.get_identifiers())
    unknown = sorted(words - set(WORDS))
    if unknown:
        return f"has ${unknown[0]}, which we do not know; there are {', '.join(f'${word}' for word in WORDS)}"
    if name != SUBJECT and not words & CARRYING:
        return "has neither $code nor, with a reset_url, $link: nobody could use the mail"
    return None if template.template.strip() else "is empty"
