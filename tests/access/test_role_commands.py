"""The commands for roles: `roles`, `users give`, `users take`, `users add --staff`."""

from command_line import CommandLine
from gamekeeper.game.access.permissions import BUILTIN_ROLES

GUARD = ("users", "add", "guard", "--email", "guard@example.test", "--generate-password", "--staff")


def test_roles_are_given_and_taken_and_the_last_manager_is_protected(first_command: CommandLine) -> None:
    command = first_command
    assert "Permissions: role moderator." in command.says(*GUARD, "moderator")
    shown = command.json("users", "show", "guard")
    assert (shown["api"], shown["staff"], shown["permissions"]) == (False, ["moderator"], [])
    given = command.says("users", "give", "guard", "viewer", "shop")
    assert given == "Permissions of guard: role moderator, role shop, role viewer.\n"
    assert command.says("users", "take", "guard", "shop", "moderator") == "Permissions of guard: role viewer.\n"
    assert command.says("users", "grant", "guard", "items.give").endswith("role viewer, items.give.\n")
    assert command.says("users", "revoke", "guard", "items.give") == "Permissions of guard: role viewer.\n"
    assert "by the role 'viewer'" in command.refuses("users", "revoke", "guard", "audit.read")
    assert "'boss'" in command.refuses("users", "give", "guard", "boss")
    other = [{"guard": "odo", "guard@example.test": "o@example.test"}.get(each, each) for each in GUARD]
    assert "There is no role 'boss'. Roles: admin, api, game master," in command.refuses(*other, "boss")
    command.refuses("users", "show", "odo")
    command.says("users", "give", "guard", "admin")
    assert "No other account could manage staff then" in command.refuses("users", "take", "guard", "admin")


def test_roles_are_listed_saved_and_deleted(command: CommandLine) -> None:
    assert {each["name"] for each in command.json("roles", "list")} == set(BUILTIN_ROLES)
    helper = ("roles", "save", "helper", "--permission", "players.read", "--permission", "mute", "--about", "Helps.")
    assert command.says(*helper) == "Permissions of the role helper: moderation.mute, players.read.\n"
    assert "Helps." in command.says("roles", "list")
    assert "Choose one of " in command.refuses("roles", "save", "helper", "--permission", "items.mint", code=2)
    assert command.says("roles", "delete", "helper") == "Deleted the role helper.\n"
    saved = command.says("roles", "save", "auditor", "--permission", "audit.read", "--read-only")
    assert saved == "Permissions of the role auditor: audit.read.\nThe role is read-only.\n"


def test_account_is_suspended_and_resumed(command: CommandLine) -> None:
    assert command.says("users", "suspend", "Shop") == "Suspended Shop.\n"
    assert command.json("users", "show", "Shop")["suspended"] is True
    assert command.says("users", "resume", "Shop") == "Ended the suspension of Shop.\n"
    assert "Shop is not suspended." in command.refuses("users", "resume", "Shop")
