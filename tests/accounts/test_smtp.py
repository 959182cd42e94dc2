"""Real SMTP sessions: plain, STARTTLS, SMTPS and log-in; servers that reject, hang or disconnect."""

import contextlib
import itertools
import shutil
import socket
import time
from urllib.parse import quote

import pytest

from gamekeeper.ground import log, settings
from gamekeeper.ground.settings import BadSetting
from gamekeeper.http.accounts import mails
from long_forms import choose
from loops import over
from outbox import FROM, ask, make_due, only, send, sending_to
from server import free_port
from smtp_sink import PASSWORD, PHASES, USER, Certificate, Rude, Sink, make_certificate
from world import MakeWorld

SECRET = "hunter2"
LOG_IN = f"smtp://{quote(USER, safe='')}:{quote(PASSWORD, safe='')}@127.0.0.1"


@pytest.fixture(scope="session")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Certificate:
    if not shutil.which("openssl"):
        pytest.skip("there is no openssl to make a certificate with")
    return make_certificate(tmp_path_factory.mktemp("tls"))


def test_delivery_without_tls(make_world: MakeWorld) -> None:
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


def test_delivery_with_tls(make_world: MakeWorld, certificate: Certificate) -> None:
    trusted = f"?ca={certificate.file}"
    for query in ("", "&starttls=offered", "&starttls=required", "smtps"):
        smtps = query == "smtps"
        with Sink(starttls=not smtps, smtps=smtps).running(certificate) as sink:
            options = ("smtps", trusted) if smtps else ("smtp", trusted + query)
            world = sending_to(make_world, sink.port, *options)
            ask(world)
            send(world)
            assert [mail.tls for mail in sink.received] == [True], query
            world.sql("DELETE FROM mails")


def test_delivery_without_agreed_tls_or_without_connection_is_retried(
    make_world: MakeWorld, certificate: Certificate
) -> None:
    with socket.create_server(("127.0.0.1", 0), backlog=1) as deaf:
        for sink, scheme, query, error in (
            (Sink(starttls=True), "smtp", "", "CERTIFICATE_VERIFY_FAILED"),
            (Sink(smtps=True), "smtps", "", "CERTIFICATE_VERIFY_FAILED"),
            (Sink(), "smtp", "?starttls=required", "STARTTLS"),
            (Sink(starttls=True), "smtp", "?starttls=never", "530 "),
            (free_port(), "smtp", "", ""),
            (deaf.getsockname()[1], "smtp", "", ""),
        ):
            with contextlib.ExitStack() as running:
                port, timeout = sink, 1
                if isinstance(sink, Sink):
                    # a sink without TLS has no certificate
                    running.enter_context(sink.running(None if query == "?starttls=required" else certificate))
                    port, timeout = sink.port, 30
                url = f"{scheme}://127.0.0.1:{port}{query}"
                world = make_world(smtp_url=url, mail_from=FROM, smtp_timeout=timeout)
                ask(world)
                send(world)
            assert not isinstance(sink, Sink) or sink.received == []
            assert (only(world).state, only(world).tries) == ("queued", 1)
            assert error in (only(world).last_error or "").upper()
            world.sql("DELETE FROM mails")


def test_wrong_smtp_password_is_retried(make_world: MakeWorld, capsys: pytest.CaptureFixture[str]) -> None:
    with Sink(auth=True).running() as sink:
        world = make_world(smtp_url=f"smtp://somebody:{SECRET}@127.0.0.1:{sink.port}", mail_from=FROM, smtp_timeout=30)
        ask(world)
        send(world)
        error = only(world).last_error or ""
        assert (only(world).state, error[:4]) == ("queued", "535 ")
        log.flush()
        assert SECRET not in error + capsys.readouterr().err
        mended = make_world(smtp_url=f"{LOG_IN}:{sink.port}", mail_from=FROM, smtp_timeout=30)
        make_due(mended)
        send(mended)
        assert (len(sink.received), only(mended).state, only(mended).tries) == (1, "sent", 2)


@pytest.mark.long_form
@over(
    "phase, manner",
    *choose(
        list(zip(PHASES, itertools.cycle(["cut", "hang", "451 not now", "gibberish"]), strict=False)),
        list(itertools.product(PHASES, ["hang", "cut", "451 not now", "gibberish"])),
    ),
)
def test_misbehaving_server_loses_no_mail(make_world: MakeWorld, phase: str, manner: str) -> None:
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
    again.sql("DELETE FROM mails")


@over(
    "manners, state",
    ({"dot": "250 OK, cut"}, "sent"),  # the SMTP server confirmed the mail before it disconnected
    ({"QUIT": "hang"}, "sent"),
    ({"dot": "554 looks like spam"}, "failed"),
    ({"DATA": "554 no"}, "failed"),
    ({"RCPT": "550 unknown", "RSET": "hang"}, "failed"),  # the SMTP server rejects the recipient, then hangs
    ({"RCPT": "550 unknown, cut"}, "failed"),
    ({"RCPT": "450 4.2.1 try later"}, "queued"),
    ({"MAIL": "550 you may not send"}, "queued"),  # the SMTP server rejects the sender, not the recipient
    ({"EHLO": "502 no", "HELO": "250 OK"}, "sent"),  # an old SMTP server without EHLO
    ({"greeting": "554 go away"}, "queued"),
)
def test_smtp_codes_decide_whether_to_retry(make_world: MakeWorld, manners: dict[str, str], state: str) -> None:
    with Rude(manners).running() as rude:
        # RSET hangs: not long, but long enough for a busy machine to answer what comes before
        world = sending_to(make_world, rude.port, smtp_timeout=5 if "RSET" in manners else 30)
        ask(world)
        send(world)
        assert only(world).state == state
        assert len(rude.received) == (state == "sent" or "dot" in manners)
    world.sql("DELETE FROM mails")


def test_quoted_code_and_address_are_masked(make_world: MakeWorld, capsys: pytest.CaptureFixture[str]) -> None:
    with Rude({}).running() as rude:
        world = sending_to(make_world, rude.port)
        code = ask(world)
        rude.manners["dot"] = f"451 what is {code} for <ann@example.test> \x1b[2J supposed to be? {'x' * 500}"
        send(world)
    said = only(world).last_error or ""
    assert said.startswith("451 what is … for <ann@example.test> [2J supposed to be? xxx")
    assert len(said) <= mails.MAX_DETAIL
    log.flush()
    [line] = capsys.readouterr().err.splitlines()
    assert "451" in line
    assert code not in line
    assert "ann@" not in line


# --- the SMTP URL setting ------------------------------------------------------------------------------------------


def server(url: str) -> mails.SmtpServer:
    return mails.parse_server(settings.load({}, smtp_url=url))


@over(
    "url, expected",
    ("smtp://mail.test:2525/", ("mail.test", 2525, None, None, False, None)),
    ("smtps://mail.test", ("mail.test", 465, None, None, True, None)),
    # STARTTLS is required, because a password is sent
    ("smtp://a:b@mail.test", ("mail.test", 25, "a", "b", False, True)),
    ("smtp://a:b@mail.test?starttls=never", ("mail.test", 25, "a", "b", False, False)),
    ("smtp://a:b@[::1]:26", ("::1", 26, "a", "b", False, None)),
    ("smtps://a%40b:c%3Ad%2F@mail.test", ("mail.test", 465, "a@b", "c:d/", True, None)),
)
def test_smtp_url_is_parsed(url: str, expected: tuple[object, ...]) -> None:
    found = server(url)
    assert (found.host, found.port, found.username, found.password, found.tls, found.starttls) == expected


@over(
    "url",
    "mail.test",
    f"smtp://user:{SECRET}@",
    f"smtp://user:{SECRET}@mail.test:99999",
    f"smtp://user:{SECRET}@mail.test?starttls=maybe",
    f"smtp://user:{SECRET}@mail.test?ca=/nowhere/ca.pem",
)
def test_invalid_url_is_reported_without_password(url: str) -> None:
    with pytest.raises(BadSetting, match=r"^GAMEKEEPER_SMTP_URL is '") as caught:
        server(url)
    assert SECRET not in str(caught.value)
