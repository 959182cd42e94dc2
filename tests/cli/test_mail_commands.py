import pytest

import people
from command_line import CommandLine
from outbox import Make, ask, list_mails, only, send, sending_to
from smtp_sink import Sink
from world import World


def test_list(command: CommandLine, make_world: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command `mail list` shows a mail in each state."""
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
    assert f">{code}</p>" in command.says("mail", "show", only(world).id, "--html")
    world.sql("DELETE FROM resets")
    assert "(the code expired, was used or was replaced)" in command.says("mail", "show", only(world).id)


def test_unknown_mail_is_refused(command: CommandLine) -> None:
    for what in ("show", "retry"):
        said = command.refuses("mail", what, "nonsense")
        assert said == "Error: No mail with id 'nonsense'. List the mails with: gamekeeper mail list\n"
    assert "Give either the ID of a mail or --all." in command.refuses("mail", "retry", code=2)


def test_retry(command: CommandLine, make_world: Make) -> None:
    with Sink().running() as sink:
        world = sending_to(make_world, sink.port)
        for name, refusal in (("Bob", "550 never"), ("Mona", None)):
            sink.handler.refusal = refusal
            ask(world, name)
            send(world)
        by_name = {mail.name: mail for mail in list_mails(world)}
        said = command.refuses("mail", "retry", by_name["Mona"].id)
        assert "it was sent; if it did not arrive, request a new reset mail." in said
        assert command.says("mail", "retry", by_name["Bob"].id).startswith("Due now: 1 mail.")
        send(world)
        assert {mail.state for mail in list_mails(world)} == {"sent"}
    retried = [(each.user_id, each.actor_id) for each in world.ledger() if each.kind == "mail_retried"]
    # the retry has no actor, because it came from the command line
    assert retried == [(people.USER_IDS["Bob"], None)]
