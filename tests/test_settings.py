"""Settings: environment variables, overrides, error messages and masked secrets."""

import dataclasses
import re
from pathlib import Path

import pytest

from gamekeeper import app, crash, settings
from gamekeeper.settings import BadSetting, Settings

NAMES = [each.name for each in dataclasses.fields(Settings)]
SECRET = "hunter2"
WITHOUT_SECRETS = {
    "reset_url",
    "public_url",
    "secret_key_file",
    "oidc_client_secret_file",
}  # names that look as if they had one
ROOT = Path(__file__).parents[1]
READERS = ("src", "scripts", "battery", "benchmarks", "examples", "tests")
READS = re.compile(r"""environ(?:\.get\(|\[)"(GAMEKEEPER_\w+)""")


def test_defaults() -> None:
    assert settings.load({}) == Settings()


def test_the_environment_is_read() -> None:
    environment = {"GAMEKEEPER_PORT": "8080", "GAMEKEEPER_GAME_NAME": "Ängen", "GAMEKEEPER_ACCESS_LOG": "False"}
    loaded = settings.load(environment | {"PORT": "1", "GAMEKEEPER_UNKNOWN": "x"})
    assert loaded == dataclasses.replace(Settings(), port=8080, game_name="Ängen", access_log=False)


def test_arguments_override_environment() -> None:
    loaded = settings.load({"GAMEKEEPER_PORT": "8080", "GAMEKEEPER_HOST": "::1"}, port=9090, host=None)
    assert (loaded.port, loaded.host) == (9090, "::1")


def test_argument_overrides_invalid_variable() -> None:
    assert settings.load({"GAMEKEEPER_PORT": "nonsense"}, port=9090).port == 9090


@pytest.mark.parametrize("name", NAMES)
def test_every_setting_has_a_variable_and_a_meaning(name: str) -> None:
    assert settings.variable(name) == f"GAMEKEEPER_{name.upper()}"
    meaning = next(each.metadata["help"] for each in dataclasses.fields(Settings) if each.name == name)
    assert meaning.endswith((".", "…"))


def test_settings_are_frozen() -> None:
    loaded = settings.load({})
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(loaded, "port", 1)  # noqa: B010 - what a type checker would not let pass


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("port", "nonsense"),
        ("port", ""),
        ("port", "-1"),
        ("port", "0"),
        ("port", "65536"),
        ("port", "1.5"),
        ("port", "１"),  # noqa: RUF001 - a full-width digit on purpose
        ("port", "9" * 5000),
        ("max_page_size", "0"),
        ("max_page_size", str(2**31)),
        ("guesses_per_caller", "0"),
        ("body_limit", "1023"),
        ("access_log", "yes"),
        ("access_log", "1"),
        ("name_pattern", "[A-Z"),
        ("name_pattern", "(?P<"),
    ],
)
def test_invalid_values_name_the_variable(name: str, text: str) -> None:
    with pytest.raises(BadSetting, match=f"^{settings.variable(name)} is "):
        settings.load({settings.variable(name): text})


def test_arguments_are_checked() -> None:
    with pytest.raises(BadSetting, match=r"^GAMEKEEPER_PORT is 0; it must be from 1 to 65535"):
        settings.load({}, port=0)


def test_held_request_waits_no_longer_than_its_key_is_stored() -> None:
    with pytest.raises(BadSetting, match=r"^GAMEKEEPER_APPROVAL_HOURS is 49; it must be at most 48"):
        settings.load({}, database="sqlite:///x", approval_hours=49, key_days=2)
    assert settings.load({}, database="sqlite:///x", approval_hours=48, key_days=2).approval_hours == 48


def test_zero_is_allowed_where_documented() -> None:
    assert settings.load({"GAMEKEEPER_REFRESH_GRACE_SECONDS": "0"}).refresh_grace_seconds == 0


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        (f"postgresql://game:{SECRET}@db.example.test/game", "postgresql://game:…@db.example.test/game"),
        (f"postgresql://game:{SECRET}@x@db.example.test/game", "postgresql://game:…@db.example.test/game"),
        (
            f"postgresql://db.example.test/game?user=a&password={SECRET}",
            "postgresql://db.example.test/game?user=a&password=…",
        ),
        ("postgresql://game@db.example.test/game", "postgresql://game@db.example.test/game"),
        (f"postgresql://db.example.test/game?password={SECRET}@x", "postgresql://db.example.test/game?password=…"),
        ("sqlite:///game.db", "sqlite:///game.db"),
        (f"postgresql:/game:{SECRET}@db.example.test/game", "…"),
        (f"game:{SECRET}@db.example.test/game", "…"),
        (f"host=db.example.test password={SECRET}", "…"),
        ("game.db", "game.db"),
    ],
)
def test_secrets_are_masked(url: str, expected: str) -> None:
    for name in ("database", "smtp_url"):
        assert settings.show_value(settings.load({}, **{name: url}), name) == expected


def test_public_url_is_an_address_without_credentials_and_path() -> None:
    assert settings.load({}, public_url="https://keeper.example.test:8443/").public_url
    for wrong in ("keeper.example.test", "https://me:secret@keeper.example.test", "https://example.test/keeper"):
        with pytest.raises(settings.BadSetting, match="GAMEKEEPER_PUBLIC_URL"):
            settings.load({}, public_url=wrong)


SECRET_NAMES = re.compile("password$|secret|token$|(?<!public_)url$|^database$")


@pytest.mark.parametrize("name", [each for each in NAMES if SECRET_NAMES.search(each)])
def test_every_secret_setting_is_masked(name: str) -> None:
    """Settings that may contain a secret are masked; WITHOUT_SECRETS are not."""
    value = f"a://{SECRET}" if name.endswith("token") else f"smtp://me:{SECRET}@host"
    assert (SECRET in settings.show_value(settings.load({}, **{name: value}), name)) == (name in WITHOUT_SECRETS)
    assert settings.show_value(settings.load({}, **{name: ""}), name) == ""


def test_other_settings_are_not_masked() -> None:
    loaded = settings.load({}, game_name="a:b@c", mail_from="game@example.test")
    assert [settings.show_value(loaded, name) for name in ("game_name", "mail_from", "port")] == [
        "a:b@c",
        "game@example.test",
        "5400",
    ]
    assert settings.show_value(loaded, "smtp_url") == ""


def test_source_of_a_value() -> None:
    environment = {"GAMEKEEPER_PORT": "8080"}
    assert settings.find_source("port", environment) == "GAMEKEEPER_PORT"
    assert settings.find_source("host", environment) == "default"


def test_unknown_variables_are_reported() -> None:
    environment = {"GAMEKEEPER_PROT": "5400", "GAMEKEEPER_SMTP_TIME_OUT": "1", "GAMEKEEPER_XYZZY": SECRET, "PORT": "1"}
    assert settings.describe_unknown(environment | {settings.variable(name): "" for name in NAMES}) == [
        "GAMEKEEPER_PROT is not a setting and has no effect. Did you mean GAMEKEEPER_PORT?",
        "GAMEKEEPER_SMTP_TIME_OUT is not a setting and has no effect. Did you mean GAMEKEEPER_SMTP_TIMEOUT?",
        "GAMEKEEPER_XYZZY is not a setting and has no effect. List all settings with: gamekeeper settings",
    ]


def test_variables_of_tools_are_not_reported() -> None:
    """Environment variables that our programs, examples and tests read are known, so no warning names them."""
    files = [path for folder in READERS for path in (ROOT / folder).rglob("*.py")]
    read = {name for path in files for name in READS.findall(path.read_text(encoding="utf-8"))}
    assert {f"GAMEKEEPER_{name}" for name in settings.OTHER_VARIABLES} == {crash.VARIABLE, *read}
    assert settings.describe_unknown(dict.fromkeys(read | {crash.VARIABLE}, "x")) == []


@pytest.mark.parametrize(
    "url",
    ["", "sqlite:///", "game.db", f"mysql://game:{SECRET}@db.example.test/game", f"postgresql:/game:{SECRET}@db/game"],
)
def test_unsupported_database_is_refused_without_password(url: str) -> None:
    with pytest.raises(BadSetting, match=r"is not supported. Use sqlite:///.* or postgresql://") as caught:
        app.open_store(Settings(database=url))
    assert SECRET not in str(caught.value)
