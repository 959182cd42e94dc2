"""`gamekeeper operations`: list the operations of the API."""

from command_line import CommandLine
from gamekeeper.http.routes import ROUTES

COMMAND = CommandLine("sqlite:///game.db")


def test_operations_are_listed_as_json() -> None:
    listed = COMMAND.json("operations")
    assert [(each["method"], each["path"]) for each in listed] == [(each.method, each.path) for each in ROUTES]
    give = next(each for each in listed if each["name"] == "give_item")
    assert (give["number"], give["access"], give["permissions"]) == ("14", "writes", "items.give")
    assert {each["permissions"] for each in listed} >= {"no token", "users.manage, users.query", "game.link"}


def test_operations_are_listed_as_table() -> None:
    heading, *rows = COMMAND.run("operations").stdout.splitlines()
    assert heading.split() == ["NUMBER", "METHOD", "PATH", "NAME", "ACCESS", "PERMISSIONS", "SUMMARY"]
    assert len(rows) == len(ROUTES)
