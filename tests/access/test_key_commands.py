"""The command `keys`."""

import people
from api_keys import create, use
from command_line import CommandLine
from gamekeeper.game.core.request import EVERY_OTHER_ITEM
from world import World

CREATE = ("keys", "create", "web shop", "--owner", "Shop")


def test_key_is_created_listed_rotated_suspended_given_and_revoked(command: CommandLine, world: World) -> None:
    made = command.run(*CREATE, "--role", "shop", "--most-per-day", "5", "--item", people.COIN.id)
    text = made.stdout.strip()
    assert "It may do now: items.give, players.read." in made.stderr
    assert use(world, text).status == 200
    (listed,) = command.json("keys", "list", "shop")
    assert (listed["name"], listed["role"], listed["state"], listed["items"]) == (
        "web shop", "shop", "active", [people.COIN.id],
    )  # fmt: skip
    rotated = command.json("keys", "rotate", listed["id"], "--grace-minutes", "5")["key"]
    assert [use(world, each).status for each in (text, rotated)] == [200, 200]
    assert command.says("keys", "suspend", listed["id"]) == "API key web shop of Shop: suspended.\n"
    world.asgi.services.callers.clear_cache()
    assert use(world, rotated).status == 401
    assert command.says("keys", "resume", listed["id"]) == "API key web shop of Shop: active.\n"
    assert command.says("keys", "give", listed["id"], "clerk") == "API key web shop of Clerk: active.\n"
    assert command.says("keys", "revoke", listed["id"]) == "Revoked the API key web shop.\n"
    assert command.says("keys", "list").splitlines()[1].endswith("revoked")
    assert "was revoked" in command.refuses("keys", "rotate", listed["id"])


def test_quota_of_a_role_is_saved_and_removed(command: CommandLine) -> None:
    told = command.says("roles", "save", "shop", "--quota", f"{people.COIN.id}=100", "--quota", "*=5")
    assert told.endswith(f"\nQuotas per UTC day: *=5, {people.COIN.id}=100.\n")
    assert f"  no         *=5, {people.COIN.id}=100  items.give, players.read\n" in command.says("roles", "list")
    quotas = {each["name"]: each["quotas"] for each in command.json("roles", "list")}
    assert quotas["shop"] == {people.COIN.id: 100, EVERY_OTHER_ITEM: 5}
    command.says("roles", "save", "shop", "--no-quotas")
    assert not any(each["quotas"] for each in command.json("roles", "list"))
    assert "is not a quota" in command.refuses("roles", "save", "shop", "--quota", "coin=5", code=2)


def test_keys_that_lose_something_are_printed(command: CommandLine, world: World) -> None:
    key = create(world, Permissions=["players.read"])
    printed = command.says("users", "take", "Shop", "api").splitlines()
    assert printed[1:] == [f"API key web shop ({key['Id']}) loses players.read."]
