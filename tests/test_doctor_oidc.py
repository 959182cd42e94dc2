"""The doctor's checks of OpenID Connect."""

from collections.abc import Callable
from pathlib import Path

from findings import findings
from gamekeeper.doctor import ERROR
from providers import make_settings
from world import World


def test_unknown_role_of_openid_connect_is_found(make_world: Callable[..., World], tmp_path: Path) -> None:
    chosen = make_settings("https://id.example", tmp_path, "ops=admin,chiefs=bosses")
    (found,) = findings(make_world(**chosen), "openid connect")
    assert found.level == ERROR
    assert "GAMEKEEPER_OIDC_ROLES names the role bosses, which does not exist" in found.message


def test_secret_of_openid_connect_readable_by_others_gives_a_note(
    make_world: Callable[..., World], tmp_path: Path
) -> None:
    chosen = make_settings("https://id.example", tmp_path)
    world, file = make_world(**chosen), Path(chosen["oidc_client_secret_file"])
    for mode, wanted in ((0o644, 1), (0o600, 0)):
        file.chmod(mode)
        found = findings(world, "openid connect")
        assert [each.message.endswith(f"Run: chmod 600 {file}") for each in found] == [True] * wanted
