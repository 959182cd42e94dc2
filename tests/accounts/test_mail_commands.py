import people
from command_line import CommandLine
from outbox import ask, list_mails, only, send, sending_to
from smtp_sink import Sink
from world import MakeWorld, World


def test_show(command: CommandLine, world: World) -> None:
    code = ask(world)
    said = command.says("mail", "show", only(world).id, GAMEKEEPER_GAME_NAME="Ängen")
    assert said.startswith("From: Ängen <gamekeeper@localhost>\nTo: ann@example.test\nSubject: Reset your ")
    assert f"    {code}\n" in said
    assert f">{code}</p>" in command.says("mail", "show", only(world).id, "--html")
    world.sql("DELETE FROM resets")
    assert "(the code expired, was used or was replaced)" in command.says("mail", "show", only(world).id)


def test_retry(command: CommandLine, make_world: MakeWorld) -> None:
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
