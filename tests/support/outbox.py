"""Helpers for the outbox: request a mail, send due mails, read their state, and let time pass."""

from gamekeeper.http.accounts.mails import Sender
from gamekeeper.store.accounts import mails
from gamekeeper.store.accounts.mails import ListedMail
from world import MakeWorld, World

FROM = "keeper@example.test"


def sending_to(make_world: MakeWorld, port: int, scheme: str = "smtp", query: str = "", **changed: object) -> World:
    """Make a world that sends mails to this SMTP port, with a timeout that a busy machine does not reach."""
    url = f"{scheme}://127.0.0.1:{port}{query}"
    return make_world(**{"smtp_url": url, "mail_from": FROM, "smtp_timeout": 30, **changed})


def ask(world: World, name: str = "Ann") -> str:
    """Request a reset mail through the API, and return its reset code."""
    assert world.get(f"/api/v1/users/{name}/password/reset").status == 200
    return world.get(f"/api/v1/users/{name}").json["PasswordResetCode"]


def send(world: World) -> None:
    world.run(Sender(world.keeper.settings).send_due(world.keeper.store))


def list_mails(world: World) -> list[ListedMail]:
    return world.run(mails.read_page(world.keeper.store, 1000))


def only(world: World) -> ListedMail:
    [mail] = list_mails(world)
    return mail


def make_due(world: World) -> None:
    """Make all mails due, as if the back-off and the lease of a dead sender had passed."""
    world.sql("UPDATE mails SET next_try_at = 1, taken_until = NULL WHERE next_try_at IS NOT NULL")


def age(world: World, minutes: int) -> None:
    """Make all mails in the outbox older by this many minutes."""
    world.sql("UPDATE mails SET queued_at = queued_at - $1, expires_at = expires_at - $1", minutes * 60_000)
    world.sql("UPDATE resets SET expires_at = expires_at - $1", minutes * 60_000)
