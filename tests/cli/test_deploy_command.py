"""`gamekeeper deploy FOLDER` writes the files of deploy/; if one exists already, it writes nothing."""

from pathlib import Path

from command_line import CommandLine

DEPLOY = Path(__file__).parents[2] / "deploy"
NAMES = sorted(path.name for path in DEPLOY.iterdir())
COMMAND = CommandLine("sqlite:///game.db")


def test_deploy_writes_every_file_and_lists_it(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "folder"
    printed = COMMAND.says("deploy", str(folder)).splitlines()
    assert printed == [str(folder / name) for name in NAMES]
    assert sorted(path.name for path in folder.iterdir()) == NAMES
    for name in NAMES:
        assert (folder / name).read_bytes() == (DEPLOY / name).read_bytes()


def test_deploy_leaves_existing_files_alone_and_writes_nothing(tmp_path: Path) -> None:
    for name in ("haproxy.cfg", "prometheus.yml"):
        (tmp_path / name).write_text("mine")
    assert COMMAND.refuses("deploy", str(tmp_path)) == (
        f"Error: {tmp_path} already has haproxy.cfg, prometheus.yml. Nothing was written. "
        "Move them, or name another folder.\n"
    )
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {
        "haproxy.cfg": "mine",
        "prometheus.yml": "mine",
    }


def test_deploy_keeps_other_files_of_the_folder(tmp_path: Path) -> None:
    (tmp_path / "other.cfg").write_text("mine")
    COMMAND.says("deploy", str(tmp_path))
    assert (tmp_path / "other.cfg").read_text() == "mine"


def test_deploy_into_a_file_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("mine")
    assert "is a file" in COMMAND.refuses("deploy", str(file), code=2)
    assert COMMAND.refuses("deploy", str(file / "below")) == (
        f"Error: {file / 'below'} cannot be written to: Not a directory. Only the files that are listed were written.\n"
    )
