"""The pages of the website with code samples: which are run, with which values, and why some are not."""

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx

from sample_code import Sample, split_commands

DRAUGHT = "96d6cdc3-877e-5dc4-9024-eac3881a6adb"  # id of an item of the demo
ROOT = Path(__file__).parents[1]
RUN_HERE = {
    "README.md",
    "docs/activity.md",
    "docs/boards.md",
    "docs/bulk.md",
    "docs/filters.md",
    "docs/history.md",
    "docs/keys.md",
    "docs/mail.md",
    "docs/permissions.md",
    "docs/security-log.md",
    "docs/signals.md",
}
RUN_ELSEWHERE = {
    "docs/client.md": "tests/client/test_page.py",
    "docs/generators.md": "tests/generators",
    "docs/openapi.md": "tests/browser/test_large_numbers.py and tests/generators",
    "docs/deploy.md": "tests/test_deploy.py",
    "examples/README.md": "tests/cli/test_printed_commands.py and tests/test_game_server.py",
    "CONTRIBUTING.md": "docs/guides/contribute.md adds a smaller operation, which tests/test_guides.py applies",
}
# pages whose gamekeeper commands and settings are checked, but whose samples are not run
NOT_RUN = {
    "docs/backup.md": "the commands need files of the reader; tests/test_backup.py runs them with others",
    "docs/demo.md": "it has only the command that starts the demo",
    "docs/economy.md": "the items and accounts are those of another game",
    "docs/link.md": "the requests need the state of a game server; those of docs/guides/game-server.md are run",
    "docs/moving.md": "the commands need a PostgreSQL server; tests/test_moving.py runs them with others",
    "docs/operating.md": "a part of a configuration of Prometheus",
    "docs/second-factors.md": "the log-in needs a code of a second factor; tests/http/test_second_factors.py logs in",
    "docs/staff.md": "an invitation needs a mail server; tests/http/test_invitations.py invites",
}
OTHER_VARIABLES = {"GAMEKEEPER_TOKEN", "GAMEKEEPER_TEST_POSTGRES", "GAMEKEEPER_CHROMIUM"}  # no settings of the server
ADDRESSES = ("https://game.example.org", "https://game.example", "https://keeper.example.org", "http://127.0.0.1:5400")
FAILING = 'curl() { command curl --silent --show-error --fail-with-body "$@"; }\n'  # an error status fails the sample


def list_paths() -> set[str]:
    """Return the pages of the website except the guides, of which each sample is run."""
    found = [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("examples/*.md")]
    return {each.relative_to(ROOT).as_posix() for each in found}


class Keeper:
    """Reads the demo, and prepares what the samples expect to be there."""

    def __init__(self, url: str) -> None:
        self.url = url
        form = {"grant_type": "password", "username": "keeper", "password": hashlib.sha256(b"moss").hexdigest()}
        self.token: str = httpx.post(f"{url}/api/oauth/token", data=form).raise_for_status().json()["access_token"]

    def send(self, path: str, body: object = None) -> Any:
        headers = {"Authorization": f"Bearer {self.token}"}
        method = "GET" if body is None else "POST"
        return httpx.request(method, self.url + path, json=body, headers=headers).raise_for_status().json()


def list_values(keeper: Keeper) -> dict[str, dict[str, str]]:
    """Return for each page what replaces its placeholders, and names that another game has."""
    everywhere = {
        **dict.fromkeys(ADDRESSES, keeper.url),
        "$URL": keeper.url,
        "$TOKEN": keeper.token,
        "gka_…": keeper.token,
    }
    given = str(keeper.send("/api/keeper/v1/changes?kind=items_given&limit=1")["Changes"][0]["Seq"])
    job = {"Act": "give_item", "Players": ["Nim"], "ItemId": DRAUGHT, "Quantity": 1}
    key = keeper.send("/api/keeper/v1/keys", {"Name": "sample", "Role": "shop"})
    keeper.send("/api/v1/users/Marlow/password/reset")
    values = {
        # a player who has gained nothing yet has no place on the new board
        "docs/boards.md": {
            '"Kills"': '"Dragons Slain"',
            "most-kills/standings?player": "highest-level/standings?player",
        },
        "docs/bulk.md": {
            '"ItemId":"…"': f'"ItemId":"{DRAUGHT}"',
            "$JOB": keeper.send("/api/keeper/v1/bulk", job)["Id"],
        },
        "docs/filters.md": {"$CLASS": keeper.send("/api/v1/players/Nim")["ClassId"]},
        "docs/history.md": {"4710": given, "4711": given},
        "docs/keys.md": {"KEY_ID": key["Id"], "gkk_…": key["Key"], '"Owner": "shop"': '"Owner": "keeper"'},
        "docs/mail.md": {"1b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed": keeper.send("/api/keeper/v1/mails")["Mails"][0]["Id"]},
        "docs/security-log.md": {"limit=10000": "limit=1"},  # so that there is a next page
        "docs/permissions.md": {
            "users/bob": "users/Sunniva",
            "username=ann": "username=keeper",
            "the password": "moss",
        },
    }
    return {page: everywhere | values.get(page, {}) for page in sorted(RUN_HERE)}


def prepare(sample: Sample, values: Mapping[str, str]) -> Sample:
    """Leave out the commands of the server's machine, which are only checked, and fill in values."""
    code = "\n".join(each for each in split_commands(sample.code) if not each.startswith("gamekeeper "))
    for placeholder, value in values.items():
        code = code.replace(placeholder, value)
    return sample._replace(code=FAILING + code + "\n")
