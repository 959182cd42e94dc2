"""Invitations: who may invite, the mail, and what accepting gives, once."""

import re
from functools import partial

import pytest

import people
import staff
from gamekeeper.game.access.refusals import InvitationVoid
from gamekeeper.game.accounts import accounts, moderation
from gamekeeper.store.accounts import invitations as rows
from gamekeeper.store.accounts.users import User
from outbox import send, sending_to
from proof import refused
from smtp_sink import Sink
from world import CLI, PUBLIC_URL, SENT, Answer, MakeWorld, World

PATH = "/api/keeper/v1/invitations"
NEW = "sunniva@example.test"


def invite(world: World, *names: str, email: str = NEW, token: str | None = None) -> Answer:
    given = {"token": token} if token else {}
    return world.post(PATH, {"email": email, "roles": list(names)}, **given)


def lease(world: World) -> str:
    """Return the secret of the invitation that is due, as the sender of its mail gets it."""
    taken = world.run(world.keeper.store.write(partial(rows.lease, lease_ms=1)))
    assert taken
    return taken.code


def accept(world: World, secret: str, name: str = "Sunniva") -> User:
    return world.run(accept_now(world, secret, name))


async def accept_now(world: World, secret: str, name: str) -> User:
    decide = partial(
        accounts.accept_invitation, secret=secret, name=name, password=staff.STORED, settings=world.keeper.settings
    )
    found: list[User] = []

    def keep(user: User) -> bytes:
        found.append(user)
        return b""

    await world.keeper.changes.apply(CLI, decide, keep)
    return found[0]


def test_invitation_is_accepted_once(world: World) -> None:
    made = invite(world, "moderator", "shop")
    assert (made.status, made.json["Roles"]) == (200, ["moderator", "shop"])
    [listed] = world.get(PATH).json["Invitations"]
    assert (listed["Id"], listed["Email"], listed["InvitedBy"]) == (made.json["Id"], NEW, "Root")
    secret = lease(world)
    assert secret not in str(world.sql("SELECT * FROM invitations")) + str(world.sql("SELECT * FROM invitation_links"))
    assert accept(world, secret).email == NEW
    assert world.get("/api/keeper/v1/users/Sunniva/roles").json["Roles"] == ["moderator", "shop"]
    assert world.get(PATH).json["Invitations"] == []
    expect_void(world, secret)
    assert [row.kind for row in world.ledger()[-2:]] == ["invitation_sent", "user_registered"]


def test_every_link_of_an_invitation_can_be_accepted(world: World) -> None:
    assert invite(world, "shop").status == 200
    first = lease(world)
    world.sql("UPDATE invitations SET next_try_at = 1")
    assert lease(world) != first
    assert accept(world, first).name == "Sunniva"


@pytest.mark.both_engines
def test_invitations_are_accepted_once_on_two_instances(make_world: MakeWorld) -> None:
    worlds = [make_world() for _ in range(2)]
    assert invite(worlds[0], "shop").status == 200
    secret = lease(worlds[0])

    async def attempt(world: World, name: str) -> bool:
        try:
            await accept_now(world, secret, name)
        except InvitationVoid:
            return False
        return True

    done = worlds[0].at_once(attempt(worlds[each % 2], f"Name{each}") for each in range(6))
    assert sorted(done) == [False] * 5 + [True]


def expect_void(world: World, secret: str) -> None:
    with pytest.raises(InvitationVoid):
        accept(world, secret, "Other")


def test_withdrawn_expired_and_replaced_invitations_are_void(world: World) -> None:
    made = invite(world, "shop").json["Id"]
    secret = lease(world)
    assert world.call("DELETE", f"{PATH}/{made}").json == {"Id": made}
    expect_void(world, secret)
    assert invite(world, "shop").status == 200
    secret = lease(world)
    world.sql("UPDATE invitations SET expires_at = 1")
    assert world.get(PATH).json["Invitations"] == []
    expect_void(world, secret)
    assert invite(world, "shop").status == 200
    first = lease(world)
    assert invite(world, "viewer", email=NEW.upper()).status == 200
    assert [each["Roles"] for each in world.get(PATH).json["Invitations"]] == [["viewer"]]
    expect_void(world, first)


def test_invitation_goes_with_the_erased_account_of_its_address(world: World) -> None:
    assert invite(world, "shop").status == 200
    body = {"username": "Sunniva", "password": SENT, "email": NEW}
    assert world.post("/api/v1/users/register", body).status == 200
    assert world.call("DELETE", "/api/v1/users/Sunniva").status == 200
    assert world.get(PATH).json["Invitations"] == []


def test_inviter_must_be_able_to_give_the_roles_and_is_warned_without_mail(make_world: MakeWorld) -> None:
    refused(invite(make_world(public_url=""), "shop"), 409, "no_public_url")
    world = make_world()
    assert invite(world, "shop").json["Warning"].startswith("Mail is not set up")
    staff.save_role(world, "chief", ["users.query", "staff.manage"])
    token = staff.add_account(world, "Chief", "chief")
    refused(invite(world, "moderator", token=token), 403, "role_out_of_reach")
    refused(invite(world, "chief", token=token), 409, "own_role")
    refused(invite(world, "boss"), 400, "unknown_role")
    refused(invite(world), 400, "bad_field")
    refused(invite(world, "shop", email="ann@example.test"), 409, "email_taken")


@pytest.mark.parametrize("lost", ["permission", "quota", "log-in", "account"])
def test_invitation_is_void_when_the_inviter_could_not_give_the_roles_any_more(world: World, lost: str) -> None:
    chief = staff.save_role(world, "chief", ["users.query", "staff.manage", "players.read", "items.give"])
    token = staff.add_account(world, "Chief", chief)
    assert invite(world, "shop", token=token).status == 200
    secret = lease(world)
    if lost == "permission":
        staff.save_role(world, "chief", ["users.query", "staff.manage"])
    elif lost == "quota":
        world.insert("role_quotas", role="chief", item_id=people.COIN.id, most=5)
    elif lost == "log-in":
        world.apply(partial(moderation.suspend, key="Chief", actor=None))
    else:
        assert world.call("DELETE", "/api/v1/users/Chief").status == 200
    expect_void(world, secret)


def test_mail_has_the_link_and_the_outcome_is_listed(make_world: MakeWorld) -> None:
    with Sink().running() as sink:
        world = sending_to(make_world, sink.port)
        assert invite(world, "shop").json["Warning"] is None
        send(world)
        [mail] = sink.received
        text = mail.message.get_body(("plain",))
        assert text
        found = re.search(rf"{re.escape(PUBLIC_URL)}/console/invitation\?code=(\S+)", text.get_content())
        assert found
        assert (mail.recipients, "Root" in text.get_content()) == ([NEW], True)
        assert world.get(PATH).json["Invitations"][0]["SentAt"] is not None
        send(world)
        assert len(sink.received) == 1
        assert accept(world, found[1]).name == "Sunniva"
