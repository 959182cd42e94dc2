"""Real SMTP sessions: plain, STARTTLS, SMTPS and log-in; servers that reject, hang or disconnect."""

import json
import socket
import time
from urllib.parse import quote

import pytest

import people
from gamekeeper import log, settings
from gamekeeper.mail import smtp
from gamekeeper.settings import BadSetting
from outbox import FROM, Make, ask, make_due, only, send, sending_to
from server import free_port
from smtp_sink import PASSWORD, PHASES, USER, Certificate, Rude, Sink

SECRET = "hunter2"
ON_SQLITE = pytest.mark.parametrize(
    "engine", ["sqlite"], indirect=True
)  # SQLite only: these tests check SMTP; the outbox is tested on both engines
LOG_IN = f"smtp://{quote(USER, safe='')}:{quote(PASSWORD, safe='')}@127.0.0.1"


def test_delivery_without_tls(make_world: Make) -> None:
    with Sink().running() as sink:
        world = sending_to(make_world, sink.port)
        code = ask(world)
        send(world)
        [mail] = sink.received
    assert (mail.sender, mail.recipients, mail.tls, mail.user) == (FROM, ["ann@example.test"], False, None)
    assert code in str(mail.message.get_body(("plain",)))
    assert (only(world).state, only(world).tries, only(world).last_error) == ("sent", 1, None)
    send(world)
    assert len(sink.received) == 1


@ON_SQLITE
@pytest.mark.parametrize("query", ["", "&starttls=offered", "&starttls=required"])
def test_delivery_with_starttls(make_world: Make, certificate: Certificate, query: str) -> None:
    with Sink(starttls=True).running(certificate) as sink:
        world = sending_to(make_world, sink.port, query=f"?ca={certificate.file}{query}")
        ask(world)
        send(world)
        assert [mail.tls for mail in sink.received] == [True]


@ON_SQLITE
def test_delivery_with_smtps(make_world: Make, certificate: Certificate) -> None:
    with Sink(smtps=True).running(certificate) as sink:
        world = sending_to(make_world, sink.port, "smtps", f"?ca={certificate.file}")
        ask(world)
        send(world)
        assert [mail.tls for mail in sink.received] == [True]


@ON_SQLITE
@pytest.mark.parametrize("scheme", ["smtp", "smtps"])
def test_untrusted_certificate_fails(make_world: Make, certificate: Certificate, scheme: str) -> None:
    with Sink(starttls=scheme == "smtp", smtps=scheme == "smtps").running(certificate) as sink:
        world = sending_to(make_world, sink.port, scheme)
        ask(world)
        send(world)
        assert sink.received == []
    assert only(world).state == "queued"
    assert "CERTIFICATE_VERIFY_FAILED" in (only(world).last_error or "")


@ON_SQLITE
def test_starttls_required_and_not_offered(make_world: Make) -> None:
    with Sink().running() as sink:
        world = sending_to(make_world, sink.port, query="?starttls=required")
        ask(world)
        send(world)
        assert sink.received == []
    assert only(world).state == "queued"
    assert "STARTTLS" in (only(world).last_error or "").upper()


@ON_SQLITE
def test_starttls_never(make_world: Make, certificate: Certificate) -> None:
    """With TLS switched off in the URL, a server that requires TLS rejects the mail."""
    with Sink(starttls=True).running(certificate) as sink:
        world = sending_to(make_world, sink.port, query="?starttls=never")
        ask(world)
        send(world)
        assert sink.received == []
    assert (only(world).last_error or "").startswith("530 ")


@ON_SQLITE
def test_delivery_with_login(make_world: Make) -> None:
    with Sink(auth=True).running() as sink:
        world = make_world(smtp_url=f"{LOG_IN}:{sink.port}", mail_from=FROM, smtp_timeout=30)
        ask(world)
        send(world)
        assert [mail.user for mail in sink.received] == [USER]


@ON_SQLITE
def test_wrong_smtp_password_is_retried(make_world: Make, capsys: pytest.CaptureFixture[str]) -> None:
    with Sink(auth=True).running() as sink:
        wrong = f"smtp://somebody:{SECRET}@127.0.0.1:{sink.port}"
        world = make_world(smtp_url=wrong, mail_from=FROM, smtp_timeout=30)
        ask(world)
        send(world)
        assert only(world).state == "queued"
        assert (only(world).last_error or "").startswith("535 ")
        log.flush()
        assert SECRET not in (only(world).last_error or "") + capsys.readouterr().err
        mended = make_world(smtp_url=f"{LOG_IN}:{sink.port}", mail_from=FROM, smtp_timeout=30)
        make_due(mended)
        send(mended)
        assert (len(sink.received), only(mended).state, only(mended).tries) == (1, "sent", 2)


@pytest.mark.parametrize(
    ("refusal", "state"), [("450 4.2.1 try later", "queued"), ("550 5.1.1 <ann@example.test> unknown", "failed")]
)
def test_rejected_recipient_fails_or_is_retried(
    make_world: Make, capsys: pytest.CaptureFixture[str], refusal: str, state: str
) -> None:
    with Sink().running() as sink:
        world = sending_to(make_world, sink.port)
        sink.handler.refusal = refusal
        ask(world)
        send(world)
        assert (only(world).state, only(world).last_error) == (state, refusal)
        sink.handler.refusal = None
        make_due(world)
        send(world)
        assert len(sink.received) == (state == "queued")
    log.flush()
    [line] = capsys.readouterr().err.splitlines()
    assert "ann@" not in line
    assert refusal[:3] in json.loads(line)["problem"]


@ON_SQLITE
@pytest.mark.parametrize("manner", ["hang", "cut", "451 not now", "gibberish"])
@pytest.mark.parametrize("phase", PHASES)
def test_misbehaving_server_loses_no_mail(make_world: Make, phase: str, manner: str) -> None:
    with Rude({phase: manner, "HELO": manner} if phase == "EHLO" else {phase: manner}).running() as rude:
        world = sending_to(make_world, rude.port, smtp_timeout=1)
        code = ask(world)
        started = time.monotonic()
        send(world)
        assert time.monotonic() - started < 30  # seconds; without a timeout the delivery would hang for a minute
        mail = only(world)
        assert (mail.state, mail.tries) == ("queued", 1)
        assert mail.last_error
        assert code not in mail.last_error
    with Rude({}).running() as polite:
        again = sending_to(make_world, polite.port)
        make_due(again)
        send(again)
        assert (only(again).state, only(again).tries, len(polite.received)) == ("sent", 2, 1)


@ON_SQLITE
@pytest.mark.parametrize(
    ("manners", "state"),
    [
        ({"dot": "250 OK, cut"}, "sent"),  # the SMTP server confirmed the mail before it disconnected
        ({"QUIT": "hang"}, "sent"),
        ({"QUIT": "500 what?"}, "sent"),
        ({"dot": "554 looks like spam"}, "failed"),
        ({"DATA": "554 no"}, "failed"),
        ({"RCPT": "550 unknown", "RSET": "hang"}, "failed"),  # the SMTP server rejects the recipient, then hangs
        ({"RCPT": "550 unknown, cut"}, "failed"),
        ({"MAIL": "550 you may not send"}, "queued"),  # the SMTP server rejects the sender, not the recipient
        ({"EHLO": "502 no", "HELO": "250 OK"}, "sent"),  # an old SMTP server without EHLO
        ({"greeting": "554 go away"}, "queued"),
    ],
)
def test_smtp_codes_decide_whether_to_retry(make_world: Make, manners: dict[str, str], state: str) -> None:
    with Rude(manners).running() as rude:
        # a short timeout where RSET hangs
        world = sending_to(make_world, rude.port, smtp_timeout=10 if "RSET" in manners else 30)
        ask(world)
        send(world)
        assert only(world).state == state
        assert len(rude.received) == (state == "sent" or "dot" in manners)


@ON_SQLITE
def test_quoted_code_is_masked_in_error(make_world: Make, capsys: pytest.CaptureFixture[str]) -> None:
    with Rude({}).running() as rude:
        world = sending_to(make_world, rude.port)
        code = ask(world)
        rude.manners["dot"] = f"451 what is {code} \x1b[2J supposed to be? {'x' * 500}"
        send(world)
    said = only(world).last_error or ""
    assert said.startswith("451 what is … [2J supposed to be? xxx")
    assert len(said) <= smtp.MAX_DETAIL
    log.flush()
    assert code not in capsys.readouterr().err


@ON_SQLITE
@pytest.mark.parametrize(
    ("address", "envelope"), [("änn@example.test", "änn@example.test"), ("ann@büro.test", "ann@xn--bro-hoa.test")]
)
def test_non_ascii_address(make_world: Make, address: str, envelope: str) -> None:
    with Sink().running() as sink:
        world = sending_to(make_world, sink.port)
        world.sql("UPDATE users SET email = $1 WHERE id = $2", address, people.USER_IDS["Ann"])
        ask(world)
        send(world)
        assert [mail.recipients for mail in sink.received] == [[envelope]]


@ON_SQLITE
def test_closed_port_is_retried(make_world: Make) -> None:
    world = sending_to(make_world, free_port())
    ask(world)
    send(world)
    assert (only(world).state, only(world).tries) == ("queued", 1)


@ON_SQLITE
def test_server_that_never_accepts_times_out(make_world: Make) -> None:
    with socket.create_server(("127.0.0.1", 0), backlog=1) as listener:
        world = sending_to(make_world, listener.getsockname()[1], smtp_timeout=1)
        ask(world)
        send(world)
    assert (only(world).state, only(world).tries) == ("queued", 1)


# --- the SMTP URL setting ------------------------------------------------------------------------------------------


def server(url: str) -> smtp.SmtpServer:
    return smtp.parse_server(settings.load({}, smtp_url=url))


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("smtp://mail.test", ("mail.test", 25, None, None, False, None)),
        ("smtp://mail.test:2525/", ("mail.test", 2525, None, None, False, None)),
        ("smtps://mail.test", ("mail.test", 465, None, None, True, None)),
        # STARTTLS is required, because a password is sent
        ("smtp://a:b@mail.test", ("mail.test", 25, "a", "b", False, True)),
        ("smtp://a:b@mail.test?starttls=never", ("mail.test", 25, "a", "b", False, False)),
        ("smtp://a:b@mail.test?starttls=offered", ("mail.test", 25, "a", "b", False, None)),
        ("smtp://a:b@localhost", ("localhost", 25, "a", "b", False, None)),
        ("smtp://a:b@[::1]:26", ("::1", 26, "a", "b", False, None)),
        ("smtps://a%40b:c%3Ad%2F@mail.test", ("mail.test", 465, "a@b", "c:d/", True, None)),
        ("smtp://mail.test?starttls=required", ("mail.test", 25, None, None, False, True)),
    ],
)
def test_smtp_url_is_parsed(url: str, expected: tuple[object, ...]) -> None:
    found = server(url)
    assert (found.host, found.port, found.username, found.password, found.tls, found.starttls) == expected


@pytest.mark.parametrize(
    "url",
    [
        "mail.test",
        "mail.test:25",
        "http://mail.test",
        f"smtp://user:{SECRET}@",
        f"smtp://user:{SECRET}@mail.test:0x19",
        f"smtp://user:{SECRET}@mail.test:99999",
        f"smtp://user:{SECRET}@mail.test/box",
        f"smtp://user:{SECRET}@mail.test?starttls=maybe",
        f"smtp://user:{SECRET}@mail.test?tls=off",
        f"smtp://user:{SECRET}@mail.test?ca=/nowhere/ca.pem",
    ],
)
def test_invalid_url_is_reported_without_password(url: str) -> None:
    with pytest.raises(BadSetting, match=r"^GAMEKEEPER_SMTP_URL is '") as caught:
        server(url)
    assert SECRET not in str(caught.value)
