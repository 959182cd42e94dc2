"""Settings: environment variables, overrides, error messages and masked secrets."""

import dataclasses
import re

import pytest

from gamekeeper import app
from gamekeeper.ground import settings
from gamekeeper.ground.settings import BadSetting, Settings
from loops import over

NAMES = [each.name for each in dataclasses.fields(Settings)]
SECRET = "hunter2"
SECRET_NAMES = re.compile("password$|secret|token$|(?<!public_)url$|^database$")
# names that look as if they had a secret
WITHOUT_SECRETS = {"reset_url", "public_url", "secret_key_file", "oidc_client_secret_file"}


def test_arguments_override_the_environment_which_overrides_defaults() -> None:
    assert settings.load({}) == Settings()
    environment = {"GAMEKEEPER_PORT": "8080", "GAMEKEEPER_GAME_NAME": "Ängen", "GAMEKEEPER_ACCESS_LOG": "False"}
    loaded = settings.load(environment | {"PORT": "1", "GAMEKEEPER_UNKNOWN": "x"}, host=None)
    assert loaded == dataclasses.replace(Settings(), port=8080, game_name="Ängen", access_log=False)
    assert settings.load({"GAMEKEEPER_PORT": "nonsense"}, port=9090).port == 9090
    assert settings.load({"GAMEKEEPER_REFRESH_GRACE_SECONDS": "0"}).refresh_grace_seconds == 0


@over(
    "name, text",
    *(("port", text) for text in ("nonsense", "", "-1", "0", "65536", "1.5", "１", "9" * 5000)),  # noqa: RUF001 - a full-width digit
    *(("max_page_size", text) for text in ("0", "1001", str(2**31))),
    ("guesses_per_caller", "0"),
    ("body_limit", "1023"),
    ("access_log", "yes"),
    ("access_log", "1"),
    ("name_pattern", "[A-Z"),
    ("name_pattern", "(?P<"),
)
def test_invalid_values_name_the_variable(name: str, text: str) -> None:
    with pytest.raises(BadSetting, match=f"^{settings.variable(name)} is "):
        settings.load({settings.variable(name): text})


def test_invalid_arguments_and_combinations_are_refused() -> None:
    with pytest.raises(BadSetting, match=r"^GAMEKEEPER_PORT is 0; it must be from 1 to 65535"):
        settings.load({}, port=0)
    with pytest.raises(BadSetting, match=r"^GAMEKEEPER_APPROVAL_HOURS is 49; it must be at most 48"):
        settings.load({}, database="sqlite:///x", approval_hours=49, key_days=2)
    assert settings.load({}, database="sqlite:///x", approval_hours=48, key_days=2).approval_hours == 48
    assert settings.load({}, public_url="https://keeper.example.test:8443/").public_url
    for wrong in ("keeper.example.test", "https://me:secret@keeper.example.test", "https://example.test/keeper"):
        with pytest.raises(BadSetting, match="GAMEKEEPER_PUBLIC_URL"):
            settings.load({}, public_url=wrong)


@over(
    "url, expected",
    (f"postgresql://game:{SECRET}@db.example.test/game", "postgresql://game:…@db.example.test/game"),
    (f"postgresql://game:{SECRET}@x@db.example.test/game", "postgresql://game:…@db.example.test/game"),
    (f"postgresql://db.test/game?user=a&password={SECRET}", "postgresql://db.test/game?user=a&password=…"),
    ("postgresql://game@db.example.test/game", "postgresql://game@db.example.test/game"),
    (f"postgresql://db.example.test/game?password={SECRET}@x", "postgresql://db.example.test/game?password=…"),
    ("sqlite:///game.db", "sqlite:///game.db"),
    (f"postgresql:/game:{SECRET}@db.example.test/game", "…"),
    (f"game:{SECRET}@db.example.test/game", "…"),
    (f"host=db.example.test password={SECRET}", "…"),
    ("game.db", "game.db"),
)
def test_passwords_in_addresses_are_masked(url: str, expected: str) -> None:
    for name in ("database", "smtp_url"):
        assert settings.show_value(settings.load({}, **{name: url}), name) == expected


@over("name", *[each for each in NAMES if SECRET_NAMES.search(each)])
def test_every_secret_setting_is_masked(name: str) -> None:
    """Settings that may contain a secret are masked; WITHOUT_SECRETS are not."""
    value = f"a://{SECRET}" if name.endswith("token") else f"smtp://me:{SECRET}@host"
    assert (SECRET in settings.show_value(settings.load({}, **{name: value}), name)) == (name in WITHOUT_SECRETS)
    assert settings.show_value(settings.load({}, **{name: ""}), name) == ""


@over("url", "", "sqlite:///", "game.db", f"mysql://game:{SECRET}@db/game", f"postgresql:/game:{SECRET}@db/game")
def test_unsupported_database_is_refused_without_password(url: str) -> None:
    with pytest.raises(BadSetting, match=r"is not supported. Use sqlite:///.* or postgresql://") as caught:
        app.open_store(Settings(database=url))
    assert SECRET not in str(caught.value)
