"""Rules for new passwords that a person types."""

from gamekeeper.game.access.passwords import find_problem, generate, is_common
from gamekeeper.ground.settings import Settings
from loops import over

NAMES = ("Nina", "nina.moor@example.test")
COMMON = (
    "password123 Password1! P@ssw0rd123 p@$$w0rd12 passw0rd!! MyPassword1 passwordpassword 1234567890 "
    "9876543210 20261116091 aaaaaaaaaa abababababab abc123abc123 abcdefghij qwertyuiop qwerty123456 1q2w3e4r5t "
    "q1w2e3r4t5 1qaz2wsx3edc !QAZ2wsx#EDC qweasdzxc1 asdfghjkl1 1234qwerasdf basketball chocolate1! "
    "Summer2024! $ummer2024 Welcome2026 letmein2023 iloveyou12 Liverpool1 changeme123 administrator washington "
    "clementine7 dragonslayer adminadmin monkeymonkey hunter2hunter2 trustno1trustno1 Nina123456 ninanina2026 "
    "nina.moor1 nina.moor@example.test gamekeeper1 "
)
GOOD = (
    "moss and lanterns",
    "correct horse battery staple",
    "tr0ub4dor&3",
    "kx7Qp2mVt9",
    "x7!kQ2#mPz",
    "ключ под ковриком",
    "漢字漢字パスワードです",
)


@over("password", *COMMON.split())
def test_common_password_is_refused(password: str) -> None:
    assert "easy to guess" in find_problem(password, Settings(), NAMES)


@over("password", *GOOD)
def test_uncommon_password_is_accepted(password: str) -> None:
    assert find_problem(password, Settings(), NAMES) == ""


def test_length_is_counted_in_characters() -> None:
    assert "has 9 characters; it needs at least 10" in find_problem("漢字と仮名混じり文", Settings())
    assert find_problem("漢字と仮名混じり文章", Settings()) == ""


def test_only_the_beginning_of_a_long_password_is_judged() -> None:
    """Only the beginning is checked, so that a very long password takes no longer than a short one."""
    assert is_common("password" * 8_000, 10, NAMES)
    assert not is_common("x7!kQ2#mPz, " + "a1" * 30_000, 10, NAMES)


def test_generated_password_keeps_the_rules() -> None:
    for least in (8, 10, 64):
        made = {generate(Settings(min_password_length=least)) for _ in range(20)}
        assert len(made) == 20
        assert not any(find_problem(each, Settings(min_password_length=least), NAMES) for each in made)
