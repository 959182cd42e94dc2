"""Content of mails for password resets and invitations: templates, the operator's own or the default ones."""

import html
import re
import string
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from email.message import EmailMessage
from email.utils import format_datetime, parseaddr
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote

from msgspec import Struct

from gamekeeper.game.access.credentials import CODE_LIFE_MS
from gamekeeper.game.core.values import split_email
from gamekeeper.ground.settings import BadSetting, Settings, variable

if TYPE_CHECKING:
    from email.headerregistry import Address

DEFAULT_TEMPLATES = Path(__file__).parent / "mail_templates"  # in English; a folder in it has those of another language
ENGLISH = "en"
SUBJECT, TEXT, HTML = "reset.subject", "reset.txt", "reset.html"
PLACEHOLDERS = ("game", "name", "code", "minutes", "link")
REQUIRED_ANY = {"code", "link"}  # the text and the HTML of a mail need at least one of these placeholders
INVITATION = "invitation."  # beginning of the names of the invitation's templates
INVITATION_SUBJECT, INVITATION_TEXT, INVITATION_HTML = (f"{INVITATION}{part}" for part in ("subject", "txt", "html"))
INVITATION_PLACEHOLDERS = ("game", "name", "hours", "link")
INVITATION_PATH = "/console/invitation?code="  # the page of the console that accepts an invitation
_LINK = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://\S+")
_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


class BadAddress(Exception):
    """No mail can be sent to this address."""


class MailFacts(NamedTuple):
    """Values of one mail."""

    mail_id: str
    name: str  # of the account, or of the account that invites
    address: str
    code: str  # reset code, or secret of an invitation
    queued_at: int


class MailTemplates(Struct, frozen=True):
    """Mail templates with the settings they need. Loaded once at start, so that a later edit cannot break a mail."""

    game: str
    sender: "Address"
    reset_url: str
    templates: Mapping[str, string.Template]
    public_url: str = ""
    invitation_hours: int = 0

    def build_reset(self, facts: MailFacts) -> EmailMessage:
        """Build the password reset mail. A retry builds the same message with the same Message-ID."""
        message = self._start(facts.mail_id, facts.address, facts.queued_at)
        return self._write(message, (SUBJECT, TEXT, HTML), self._list_words(facts))

    def build_invitation(self, facts: MailFacts) -> EmailMessage:
        """Build the mail with the link that accepts an invitation."""
        link = f"{self.public_url}{INVITATION_PATH}{facts.code}"
        words = {"game": self.game, "name": join_lines(facts.name), "link": link}
        words["hours"] = str(self.invitation_hours)
        message = self._start(facts.mail_id, facts.address, facts.queued_at)
        return self._write(message, (INVITATION_SUBJECT, INVITATION_TEXT, INVITATION_HTML), words)

    def _start(self, mail_id: str, address: str, queued_at: int) -> EmailMessage:
        message = EmailMessage()
        message["From"] = self.sender
        message["To"] = parse_address(address)
        message["Date"] = format_datetime(datetime.fromtimestamp(queued_at // 1000, UTC))
        message["Message-ID"] = f"<{mail_id}@{self.sender.domain}>"
        message["Auto-Submitted"] = "auto-generated"  # asks mail programs not to reply automatically
        return message

    def _write(self, message: EmailMessage, names: tuple[str, str, str], words: Mapping[str, str]) -> EmailMessage:
        subject, text, page = names
        message["Subject"] = join_lines(self._fill(subject, words, str))
        message.set_content(self._fill(text, words, str))
        message.add_alternative(self._fill(page, words, html.escape), subtype="html")
        return message

    def _list_words(self, facts: MailFacts) -> dict[str, str]:
        name, code = join_lines(facts.name), facts.code
        link = self.reset_url.replace("{name}", quote(name, safe="")).replace("{code}", quote(code, safe=""))
        minutes = str(CODE_LIFE_MS // 60_000)
        return {"game": self.game, "name": name, "code": code, "minutes": minutes, "link": link}

    def _fill(self, template: str, words: Mapping[str, str], escape: Callable[[str], str]) -> str:
        return self.templates[template].substitute({word: escape(value) for word, value in words.items()})


def load_templates(settings: Settings) -> MailTemplates:
    """Load the mail templates; raise BadSetting if one of them, or a setting that they need, is invalid."""
    url = settings.reset_url
    if url and (not _LINK.fullmatch(url) or set(re.findall(r"\{(.*?)\}", url)) - {"name"} != {"code"}):
        wanted = "an address with {code}, and maybe {name}, in it, such as https://example.org/reset?code={code}"
        raise BadSetting(f"{variable('reset_url')} is '{url}'; it must be {wanted}.")
    names = (SUBJECT, TEXT, HTML, INVITATION_SUBJECT, INVITATION_TEXT, INVITATION_HTML)
    templates = {name: _load_template(settings, name) for name in names}
    return MailTemplates(
        join_lines(settings.game_name),
        _parse_sender(settings),
        url,
        templates,
        settings.public_url.rstrip("/"),
        settings.invitation_hours,
    )


def join_lines(text: str) -> str:
    """Make text safe for a mail header: one line, without control characters."""
    return " ".join(_UNPRINTABLE.sub(" ", text).split())


def parse_address(address: str, name: str = "") -> "Address":
    """Parse and check a mail address. Imported accounts can have any text, or none, as their address."""
    from email.headerregistry import Address  # noqa: PLC0415 - imported with the first mail, so that the server starts fast

    try:
        local_part, domain = split_email(address, globally_deliverable=False)
    except ValueError as error:
        raise BadAddress(f"The mail address is not valid: {error}") from None
    return Address(name, local_part, domain)


def _parse_sender(settings: Settings) -> "Address":
    if not settings.mail_from:
        raise BadSetting(
            f"{variable('smtp_url')} is set but {variable('mail_from')} is not. Set it to the sender of the mails."
        )
    name, address = parseaddr(settings.mail_from)
    if _UNPRINTABLE.search(settings.mail_from):
        address = ""
    try:
        return parse_address(address, join_lines(name or settings.game_name))
    except BadAddress:
        seen = settings.mail_from
        raise BadSetting(f"{variable('mail_from')} is '{seen}'; it must be an address or Name <address>.") from None


def _load_template(settings: Settings, name: str) -> string.Template:
    folder = settings.mail_templates
    if folder and not Path(folder).is_dir():
        raise BadSetting(f"{variable('mail_templates')} is '{folder}'; this folder does not exist.")
    # an empty setting, and English, lead to the folder itself
    path = DEFAULT_TEMPLATES / settings.language.removeprefix(ENGLISH) / name
    if folder and (own := Path(folder) / name).exists():
        path = own
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadSetting(f"The mail template {path} cannot be read: {error}. It must be a file in UTF-8.") from None
    has_link = settings.reset_url or name.startswith(INVITATION)
    template = string.Template(text if has_link else _remove_link_lines(text))
    problem = _find_problem(template, name)
    if problem:
        raise BadSetting(f"The mail template {path} {problem}.")
    return template


def _remove_link_lines(text: str) -> str:
    """Remove template lines that contain $link, and the blank lines around them, if reset_url is not set."""
    kept = [line for line in text.splitlines(keepends=True) if not re.search(r"\$(link\b|\{link\})", line)]
    return re.sub(r"\n{3,}", "\n\n", "".join(kept))


def _find_problem(template: string.Template, name: str) -> str | None:
    if not template.is_valid():
        return "has a $ without a placeholder name; write $$ for a dollar sign"
    words = set(template.get_identifiers())
    known = INVITATION_PLACEHOLDERS if name.startswith(INVITATION) else PLACEHOLDERS
    unknown = sorted(words - set(known))
    if unknown:
        return f"has the unknown placeholder ${unknown[0]}; use {', '.join(f'${word}' for word in known)}"
    if name not in {SUBJECT, INVITATION_SUBJECT} and not words & REQUIRED_ANY:
        return "has neither $code nor (with the setting reset_url) $link, so the mail would be useless"
    return None if template.template.strip() else "is empty"
