import itertools

import pytest

import people
from command_line import CommandLine
from outbox import Make, ask, list_mails, make_due, only, send, sending_to
from smtp_sink import Sink
from world import World


def test_list(command: CommandLine, make_world: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command `mail list` shows a mail in each state."""
    assert command.says("mail", "list").split() == ["ID", "STATE", "USER", "TO", "QUEUED", "TRIES", "LAST", "ERROR"]
    with Sink().running() as sink:
        world = sending_to(make_world, sink.port)
        ask(world, "Ann")
        send(world)
        sink.handler.refusal = f"550 5.1.1 {'no ' * 40}"
        ask(world, "Bob")
        send(world)
        sink.handler.refusal = "450 later"
        ask(world, "Mona")
        send(world)
    ask(world, "Shop")
    ask(world, "Shop")
    world.sql("UPDATE mails SET taken_until = expires_at WHERE user_id = $1", people.USER_IDS["Shop"])
    found = {(each["user"], each["state"], each["tries"], each["last_error"]) for each in command.json("mail", "list")}
    assert found == {
        ("Ann", "sent", 1, None),
        ("Bob", "failed", 1, f"550 5.1.1 {'no ' * 40}".strip()),
        ("Mona", "queued", 1, "450 later"),
        ("Shop", "sending", 0, None),
        ("Shop", "expired", 0, None),
    }
    lines = command.says("mail", "list").splitlines()
    assert len(lines) == 6
    assert any(line.split()[1:4] == ["queued", "Mona", "mona@example.test"] for line in lines)
    assert all(len(line) < 200 for line in lines)
    code = world.get("/api/v1/users/Mona").json["PasswordResetCode"]
    assert code not in command.says("mail", "list") + command.says("mail", "list", "--json")
    monkeypatch.setattr("gamekeeper.store.mails.LIST_LIMIT", 2)
    result = command.run("mail", "list")
    assert len(result.stdout.splitlines()) == 3
    assert result.stderr == "Only the newest 2 mails are listed.\n"


def test_show(command: CommandLine, world: World) -> None:
    code = ask(world)
    said = command.says("mail", "show", only(world).id, GAMEKEEPER_GAME_NAME="Ängen")
    assert said.startswith("From: Ängen <gamekeeper@localhost>\nTo: ann@example.test\nSubject: Reset your ")
    assert f"    {code}\n" in said
    html = command.says("mail", "show", only(world).id.upper(), "--html", GAMEKEEPER_MAIL_FROM="k@example.test")
    assert "From: Gamekeeper <k@example.test>" in html
    assert f">{code}</p>" in html
    said = command.refuses("mail", "show", only(world).id, GAMEKEEPER_MAIL_TEMPLATES="/nowhere")
    assert said == "Error: GAMEKEEPER_MAIL_TEMPLATES is '/nowhere'; this folder does not exist.\n"
    world.sql("DELETE FROM resets")
    assert "(the code expired, was used or was replaced)" in command.says("mail", "show", only(world).id)
    world.sql("UPDATE mails SET address = ''")
    assert "The mail address is not valid" in command.refuses("mail", "show", only(world).id)


def test_invalid_arguments_are_refused(command: CommandLine) -> None:
    for what, mail_id in itertools.product(["show", "retry"], [people.NOBODY_ID, "nonsense", ""]):
        said = command.refuses("mail", what, mail_id)
        assert said == f"Error: No mail with id '{mail_id}'. List the mails with: gamekeeper mail list\n"
    for arguments in ([], [people.NOBODY_ID, "--all"]):
        assert "Give either the ID of a mail or --all." in command.refuses("mail", "retry", *arguments, code=2)
    said = command.refuses("serve", GAMEKEEPER_SMTP_URL="smtp://mail.test")
    assert said.startswith("Error: GAMEKEEPER_SMTP_URL is set but GAMEKEEPER_MAIL_FROM is not. Set it to the sender")


def test_retry_of_expired_mail_and_of_one_in_delivery_is_refused(command: CommandLine, world: World) -> None:
    ask(world)
    make_due(world)
    world.sql("UPDATE mails SET taken_until = expires_at, next_try_at = expires_at")
    assert "it is being sent; check again" in command.refuses("mail", "retry", only(world).id)
    assert command.says("mail", "retry", "--all").startswith("Due now: 0 mails.")
    world.sql("UPDATE mails SET taken_until = NULL")
    world.sql("UPDATE resets SET expires_at = 1")
    assert "its code has expired, was used or was replaced; request" in command.refuses("mail", "retry", only(world).id)
    assert command.says("mail", "retry", "--all").startswith("Due now: 0 mails.")


def test_retry(command: CommandLine, make_world: Make) -> None:
    with Sink().running() as sink:
        world = sending_to(make_world, sink.port)
        for name, refusal in (("Ann", "450 later"), ("Bob", "550 never"), ("Mona", None)):
            sink.handler.refusal = refusal
            ask(world, name)
            send(world)
            # the refused mail must not become due again while the others are sent, however long that takes
            world.sql("UPDATE mails SET next_try_at = expires_at WHERE next_try_at IS NOT NULL")
        by_name = {mail.name: mail for mail in list_mails(world)}
        sink.handler.refusal = None
        said = command.refuses("mail", "retry", by_name["Mona"].id)
        assert "it was sent; if it did not arrive, request a new reset mail." in said
        assert command.says("mail", "retry", by_name["Bob"].id) == (
            "Due now: 1 mail. Mail is not set up, so nothing is sent until GAMEKEEPER_SMTP_URL is set.\n"
        )
        send(world)
        assert sorted(mail.recipients[0][:3] for mail in sink.received) == ["bob", "mon"]
        smtp = {"GAMEKEEPER_SMTP_URL": "smtp://mail.test", "GAMEKEEPER_MAIL_FROM": "k@example.test"}
        assert command.says("mail", "retry", "--all", **smtp) == "Due now: 1 mail.\n"
        send(world)
        assert {mail.state for mail in list_mails(world)} == {"sent"}
    retried = [(each.user_id, each.actor_id) for each in world.ledger() if each.kind == "mail_retried"]
    # the retries have no actor, because they came from the command line
    assert retried == [(people.USER_IDS["Bob"], None), (people.USER_IDS["Ann"], None)]
