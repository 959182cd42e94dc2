"""Content of the mails (text and HTML), and the operator's own templates."""

import tempfile
from email import policy
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import pytest

from gamekeeper.ground import settings
from gamekeeper.ground.settings import BadSetting
from gamekeeper.http.accounts import mail_messages
from gamekeeper.http.accounts.mail_messages import BadAddress, MailFacts, MailTemplates
from loops import over
from outbox import FROM

ANN = MailFacts("3f2c8a4e-0000-4000-8000-000000000001", "Ann", "ann@example.test", "c0de_-X", 1_700_000_000_123)
EVIL = '<b>Eve</b> & "co"\r\nBcc: eve@example.test\x00\u2028.'


def letters(**given: Any) -> MailTemplates:
    return mail_messages.load_templates(settings.load({}, **{"mail_from": FROM, "game_name": "Ängen", **given}))


def part(message: EmailMessage, kind: str) -> str:
    body = message.get_body((kind,))
    assert body
    return body.get_content()


def test_reset_mail_has_headers_and_both_parts() -> None:
    message = letters().build_reset(ANN)
    assert {name: str(message[name]) for name in ("Subject", "From", "To", "Date", "Message-ID", "Auto-Submitted")} == {
        "Subject": "Reset your Ängen password",
        "From": f"Ängen <{FROM}>",
        "To": "ann@example.test",
        "Date": "Tue, 14 Nov 2023 22:13:20 +0000",
        "Message-ID": f"<{ANN.mail_id}@example.test>",
        "Auto-Submitted": "auto-generated",
    }
    assert message.get_content_type() == "multipart/alternative"
    for kind in ("plain", "html"):
        assert all(said in part(message, kind) for said in ("Ann", "Ängen", ANN.code, "30 minutes")), kind
        assert not any(said in part(message, kind) for said in ("$", "link")), kind


def test_reset_mail_with_link() -> None:
    message = letters(reset_url="https://example.org/reset?user={name}&code={code}").build_reset(
        ANN._replace(name="Ann & Bob", code="a+b")
    )
    link = "https://example.org/reset?user=Ann%20%26%20Bob&code=a%2Bb"
    assert f"Or open this link: {link}\n" in part(message, "plain")
    assert f'<a href="{link.replace("&", "&amp;")}">' in part(message, "html")


def test_mails_and_missing_templates_are_in_the_language_of_the_setting(tmp_path: Path) -> None:
    (tmp_path / mail_messages.SUBJECT).write_text("$game\nruft\n", encoding="utf-8")
    (tmp_path / mail_messages.TEXT).write_text("Für ${name}: $code, $$5, $minutes", encoding="utf-8")
    made = letters(language="de", public_url="https://keeper.example", mail_templates=str(tmp_path))
    reset = made.build_reset(ANN)
    assert (str(reset["Subject"]), part(reset, "plain")) == ("Ängen ruft", f"Für Ann: {ANN.code}, $5, 30\n")
    assert "30 Minuten gültig" in part(reset, "html")
    invitation = made.build_invitation(MailFacts(ANN.mail_id, "Root", ANN.address, "s3cret", ANN.queued_at))
    assert str(invitation["Subject"]) == "Einladung in das Team von Ängen"
    assert "https://keeper.example/console/invitation?code=s3cret" in part(invitation, "plain")


def test_special_characters_in_names_are_escaped() -> None:
    """Names of imported accounts and of the game can contain any character."""
    message = letters(game_name=EVIL).build_reset(ANN._replace(name=EVIL))
    flat = message.as_bytes(policy=policy.SMTP)
    head = flat.partition(b"\r\n\r\n")[0]
    assert sorted(line.split(b":")[0] for line in head.split(b"\r\n") if line[:1] != b" ") == sorted(
        name.encode() for name in message
    )
    assert b"\r\nBcc" not in flat
    assert message["Bcc"] is None
    assert "<b>Eve" not in part(message, "html")
    assert "&lt;b&gt;Eve&lt;/b&gt; &amp; &quot;co&quot;" in part(message, "html")
    assert '<b>Eve</b> & "co" Bcc: eve@example.test .' in part(message, "plain")
    assert message["From"].addresses[0].addr_spec == FROM


@over(
    "address, envelope",
    ("ann+tag@example.test", "ann+tag@example.test"),
    ("ann@büro.test", "ann@xn--bro-hoa.test"),
    ("änn@example.test", "änn@example.test"),
)
def test_valid_addresses_are_used_and_invalid_ones_refused(address: str, envelope: str) -> None:
    message = letters(mail_from=f"The Keepers <{FROM}>").build_reset(ANN._replace(address=address))
    assert message["To"].addresses[0].addr_spec == envelope
    assert str(message["From"]) == f"The Keepers <{FROM}>"
    for invalid in ("", "ann", "ann@", "a@b.test\nBcc: c@d.test", "<ann@b.test>", "a@b.test,c@d.test"):
        with pytest.raises(BadAddress, match=r"^The mail address is not valid"):
            letters().build_reset(ANN._replace(address=invalid))


@over(
    "name, text",
    (mail_messages.TEXT, b"$nmae $code"),
    (mail_messages.TEXT, b"$code for $ 5"),
    (mail_messages.TEXT, b"Hello $name"),
    (mail_messages.HTML, b"\xff $code"),
    (mail_messages.SUBJECT, b" \n"),
)
def test_invalid_templates_are_refused(tmp_path: Path, name: str, text: bytes) -> None:
    folder = Path(tempfile.mkdtemp(dir=tmp_path))
    (folder / name).write_bytes(text)
    with pytest.raises(BadSetting, match=f"^The mail template {folder / name} "):
        letters(mail_templates=str(folder))
