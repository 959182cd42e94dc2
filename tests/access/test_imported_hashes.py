"""Password hashes from Intersect, plain and wrapped: known vectors, and the same work for right and wrong."""

import asyncio

import pytest
from argon2 import PasswordHasher, extract_parameters

from gamekeeper.game.access import passwords
from gamekeeper.game.access.passwords import Passwords, hash_for_wire
from loops import over
from world import SENT, WRONG

SALT = "5E884898DA28047151D0E56F8DC6292773603D0D6AABBDD62A11EF721D1542D8"
# SHA-256 of the text "letmein", as upper case hex digits
LETMEIN = "1C8BFE8F801D79745C4631D09FFF36C82AA37FC4CCE4FC946683D7B336B63032"
# SHA-256 of the texts LETMEIN and SALT, one after the other
SALTED = "ADEB41504249D2F53DF32E89FFD995356FC13152CEA2EAB2407BD1D6FDB36D47"
IMPORTED = f"intersect${SALT}${passwords.hash_as_intersect(SENT, SALT)}"
ARGON2 = "$argon2id$"
pytestmark = pytest.mark.usefixtures("argon2_at_full_cost")


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list of all argon2 runs: "hash" or "verify"."""
    found: list[str] = []
    hash_, verify = PasswordHasher.hash, PasswordHasher.verify

    def hashed(hasher: PasswordHasher, text: str) -> str:
        found.append("hash")
        return hash_(hasher, text)

    def verified(hasher: PasswordHasher, stored: str, text: str) -> bool:
        if extract_parameters(stored).memory_cost == 19 * 1024:
            found.append("verify")
        return verify(hasher, stored, text)

    monkeypatch.setattr(PasswordHasher, "hash", hashed)
    monkeypatch.setattr(PasswordHasher, "verify", verified)
    return found


def matched(checking: Passwords, sent: str, stored: str | None) -> str | None:
    return asyncio.run(checking.verify_and_upgrade(sent, stored))


def wrapped(checking: Passwords, stored: str) -> str:
    imported = passwords.parse_imported_hash(stored)
    assert imported
    return asyncio.run(checking.wrap_imported(imported))


# --- forms of imported hashes --------------------------------------------------------------------------------------


def test_hash_is_the_same_as_that_of_intersect() -> None:
    assert hash_for_wire("letmein").upper() == LETMEIN
    assert passwords.hash_as_intersect(LETMEIN, SALT) == passwords.hash_as_intersect(LETMEIN.lower(), SALT) == SALTED
    assert passwords.format_imported(SALT, SALTED) == f"intersect${SALT}${SALTED}"


@over("salt", SALT, "a$b", "a$$b$", "", "ä")
def test_any_salt_can_be_parsed(salt: str) -> None:
    argon2 = "$argon2id$v=19$m=19456,t=2,p=1$c2FsdA$aGFzaA"
    assert passwords.parse_imported_hash(passwords.format_imported(salt, SALTED)) == (salt, SALTED, False)
    assert passwords.parse_imported_hash(passwords.format_wrapped(salt, argon2)) == (salt, argon2, True)


@over("stored", "!", "", "$argon2id$v=19$m=1", "inter$sect", SALTED)
def test_other_hashes_are_not_parsed(stored: str) -> None:
    assert passwords.parse_imported_hash(stored) is None


def test_known_vectors_match(checking: Passwords) -> None:
    imported = f"intersect${SALT}${SALTED}"
    sent = hash_for_wire("letmein")
    for stored in (imported, wrapped(checking, imported)):
        found = matched(checking, sent, stored)
        assert found
        assert found.startswith(ARGON2)
        assert PasswordHasher().verify(found, sent)
        assert matched(checking, WRONG, stored) is None
        assert SALTED not in found


def test_wrapped_hash_does_not_contain_the_imported_one(checking: Passwords) -> None:
    stored = wrapped(checking, IMPORTED)
    assert stored.startswith(f"wrapped${SALT}$$argon2id$")
    assert passwords.hash_as_intersect(SENT, SALT) not in stored
    assert extract_parameters(stored.removeprefix(f"wrapped${SALT}$")).memory_cost == 19 * 1024


def test_wrapping_takes_no_place_in_the_queue() -> None:
    small = Passwords(queue=1)
    imported = passwords.parse_imported_hash(IMPORTED)
    assert imported

    async def both() -> list[str]:
        wrapping = asyncio.create_task(small.wrap_imported(imported))
        await asyncio.sleep(0)
        assert small.queue_length == 0
        return [await small.hash_password(SENT), await wrapping]

    try:
        assert [text.partition("$")[0] for text in asyncio.run(both())] == ["", "wrapped"]
    finally:
        small.close()


@over("salt", "", " ", "\t")
def test_blank_salt_matches_no_password(checking: Passwords, runs: list[str], salt: str) -> None:
    imported = passwords.format_imported(salt, passwords.hash_as_intersect(SENT, salt))
    forms = (imported, wrapped(checking, imported))
    runs.clear()
    for stored in forms:
        assert matched(checking, SENT, stored) is None
    assert runs == ["verify", "verify"]


@over(
    "stored",
    *("intersect", "intersect$", "intersect$$", f"intersect${SALT}$", f"intersect${SALT}$ä"),
    f"intersect${SALT}${passwords.hash_as_intersect(SENT, SALT).lower()}",
)
def test_broken_hash_matches_no_password(checking: Passwords, runs: list[str], stored: str) -> None:
    runs.clear()
    assert matched(checking, SENT, stored) is None
    assert runs == ["verify"]


# --- equal work for right and wrong passwords -----------------------------------------------------------------------


def test_right_wrong_and_unknown_passwords_take_the_same_argon2_runs(checking: Passwords, runs: list[str]) -> None:
    """A right password with a wrapped hash takes a second argon2 run once; only the owner can notice that."""
    under_argon2 = wrapped(checking, IMPORTED)
    for sent, stored, wanted in (
        (WRONG, None, ["verify"]),
        (WRONG, "!", ["verify"]),
        (WRONG, IMPORTED, ["verify"]),
        (SENT, IMPORTED, ["hash"]),
        (WRONG, under_argon2, ["verify"]),
        (SENT, under_argon2, ["verify", "hash"]),
    ):
        runs.clear()
        matched(checking, sent, stored)
        assert runs == wanted, stored


def test_checked_password_is_cached_under_the_new_hash(checking: Passwords, runs: list[str]) -> None:
    """The cache never contains the imported hash: a caller that still has it must get the new hash."""
    found = matched(checking, SENT, IMPORTED)
    runs.clear()
    assert matched(checking, SENT, found) == found
    assert runs == []
    assert matched(checking, SENT, IMPORTED) not in (None, IMPORTED)
    assert runs == ["hash"]
