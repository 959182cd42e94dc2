import re
from typing import Any

from gamekeeper.intersect import accounts
from gamekeeper.store.access.roles import Powers
from loops import over

ID = "00000000-0000-4000-8000-000000000001"
PATTERN = re.compile("[A-Za-z0-9]{2,20}")
HASH = "ab" * 32


def read(**changed: Any) -> tuple[accounts.ImportedUser, list[str]]:
    row = {
        "id": ID,
        "name": "Ann",
        "email": "ann@example.test",
        "salt": "SALT",
        "password": HASH,
        "power": "{}",
        "registered": None,
        **changed,
    }
    notes: list[str] = []
    return accounts.read_user(tuple(row.values()), PATTERN, notes.append), notes


def test_ordinary_account_has_no_notes() -> None:
    found, notes = read(registered="1970-01-01 00:00:01")
    assert notes == []
    assert (found.user.name, found.fold, found.email_fold) == ("Ann", "ann", "ann@example.test")
    assert (found.user.password, found.user.created_at) == (f"intersect$SALT${HASH.upper()}", 1000)


@over("changed", {"salt": None}, {"salt": "a\x00b"}, {"password": "short"}, {"password": None})
def test_invalid_password_prevents_login(changed: Any) -> None:
    found, notes = read(**changed)
    assert found.user.password == "!"
    assert notes == [accounts.BAD_HASH]


@over(
    "power, expected, listed",
    (
        '{"Api":true,"ApiRoles":{"UserQuery":true,"UserManage":true}}',
        Powers(api=True, users_query=True, users_manage=True),
        0,
    ),
    ('{"Editor":true,"Ban":true,"Kick":true,"Mute":true}', Powers(editor=True, ban=True, kick=True, mute=True), 0),
    ('{"Api":true,"ApiRoles":null,"PersonalInformation":true}', Powers(api=True, users_query=True), 0),
    ('{"Api":true,"ApiRoles":{"UserManage":true}}', Powers(api=True), 1),
    ('{"Api":"true"}', Powers(), 0),
    ("broken", Powers(), 1),
    (None, Powers(), 0),
)
def test_powers(power: str | None, expected: Powers, listed: int) -> None:
    found, notes = read(power=power)
    assert found.user.powers == expected
    assert len(notes) == listed


@over("name, kept", ("", False), ("a\x07b", False), ("rank", True), ("two words", True), (ID, True))
def test_unusual_names_are_kept_and_listed(name: Any, *, kept: bool) -> None:
    found, notes = read(name=name)
    assert found.user.name == (name if kept else ID)
    assert len(notes) == 1


@over("email", "", "nobody", "a@b", "a b@example.test")
def test_invalid_email_has_no_fold(email: str) -> None:
    found, _ = read(email=email)
    assert (found.user.email, found.email_fold) == (email, None)


@over(
    "ends, expected",
    ("9999-12-31 23:59:59", (ID, "", "", 0, None)),
    ("0001-01-01 00:00:00", (ID, "", "", 0, 0)),
    ("later", None),
    (None, None),
)
def test_end_of_ban(ends: str | None, expected: object) -> None:
    assert accounts.read_penalty([(ID, b"", None, ends, None, None)]) == expected
