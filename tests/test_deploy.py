"""The files in deploy/: each is put before the program that will read it, where that program is to be had."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import run_cluster
from gamekeeper.settings import PREFIX, Settings
from server import free_port

ROOT = Path(__file__).parent.parent
DEPLOY = ROOT / "deploy"
UNITS = sorted(DEPLOY.glob("*.service")) + sorted(DEPLOY.glob("*.timer"))
INSTALLED = "/opt/gamekeeper/bin/gamekeeper"
GUIDE = (ROOT / "docs" / "deploy.md").read_text()


def needs(program: str) -> str:
    found = shutil.which(program)
    if not found:
        pytest.skip(f"There is no {program} here.")
    return found


# --- HAProxy -------------------------------------------------------------------------------------------------------


def checked_by_haproxy(folder: Path, text: str) -> str:
    """What HAProxy has against the file; nothing when it is good."""
    program = run_cluster.haproxy()
    if not program:
        pytest.skip("There is no haproxy here.")
    file = folder / "haproxy.cfg"
    file.write_text(text)
    done = subprocess.run([program, "-c", "-f", str(file)], check=False, capture_output=True, text=True)
    return done.stderr if done.returncode else ""


def deployed(folder: Path) -> str:
    return run_cluster.configuration(folder, free_port(), ["127.0.0.1:5401", "127.0.0.1:5402"])


def test_haproxy_takes_its_file(tmp_path: Path) -> None:
    assert checked_by_haproxy(tmp_path, deployed(tmp_path)) == ""


def test_haproxy_takes_it_with_its_certificate(tmp_path: Path) -> None:
    names = ["-subj", "/CN=game.example.test", "-keyout", str(tmp_path / "key"), "-out", str(tmp_path / "cert")]
    subprocess.run(
        [needs("openssl"), "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", *names],
        check=True,
        capture_output=True,
    )
    (tmp_path / "game.pem").write_text((tmp_path / "cert").read_text() + (tmp_path / "key").read_text())
    text = (DEPLOY / "haproxy.cfg").read_text().replace("/etc/haproxy/certs/game.pem", str(tmp_path / "game.pem"))
    assert checked_by_haproxy(tmp_path, text.replace(run_cluster.ADMIN_SOCKET, str(tmp_path / "admin.sock"))) == ""


@pytest.mark.parametrize(
    ("good", "bad"), [("option redispatch 1", "option redispach 1"), ("default_backend gamekeeper", "use nobody")]
)
def test_a_fault_in_haproxys_file_is_noticed(tmp_path: Path, good: str, bad: str) -> None:
    assert checked_by_haproxy(tmp_path, deployed(tmp_path).replace(good, bad))


# --- systemd -------------------------------------------------------------------------------------------------------


def checked_by_systemd(folder: Path, units: dict[str, str]) -> str:
    """What systemd has against them; the program that they start is ours, wherever that is here."""
    for name, text in units.items():
        (folder / name).write_text(text.replace(INSTALLED, f"{Path(sys.executable).parent}/gamekeeper"))
    command = [needs("systemd-analyze"), "verify", *[str(folder / name) for name in units]]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    return "\n".join(line for line in done.stderr.splitlines() if any(name in line for name in units))


def test_systemd_takes_the_units(tmp_path: Path) -> None:
    assert checked_by_systemd(tmp_path, {each.name: each.read_text() for each in UNITS}) == ""


@pytest.mark.parametrize(
    ("good", "bad"),
    [("KillMode=mixed", "KillMod=mixed"), ("ExecStart=", "ExecStart=nowhere/"), ("Restart=", "Restart=x")],
)
def test_a_fault_in_a_unit_is_noticed(tmp_path: Path, good: str, bad: str) -> None:
    text = (DEPLOY / "gamekeeper.service").read_text()
    assert checked_by_systemd(tmp_path, {"gamekeeper.service": text.replace(good, bad, 1)})


def test_systemd_waits_longer_than_the_requests_under_way_may_take() -> None:
    waits = re.search(r"TimeoutStopSec=(\d+)", (DEPLOY / "gamekeeper.service").read_text())
    assert waits
    assert int(waits[1]) > Settings().stop_seconds


# --- Docker: there is no engine here, so nothing is built; what its file names must at least be there ----------------


def missing_in_image(dockerfile: str, ignore: str) -> list[str]:
    """What is copied or installed from, and is not in the project or not sent to the builder."""
    sent = {line[1:] for line in ignore.splitlines() if line.startswith("!")}
    copied = [
        word for line in re.findall(r"^COPY (?!--from)(.*) \S+$", dockerfile, re.MULTILINE) for word in line.split()
    ]
    return [each for each in copied if each not in sent or not (ROOT / each).exists()]


def test_the_image_is_made_of_what_is_there() -> None:
    dockerfile = (DEPLOY / "Dockerfile").read_text()
    ignore = (DEPLOY / "Dockerfile.dockerignore").read_text()
    assert missing_in_image(dockerfile, ignore) == []
    assert missing_in_image(dockerfile + "COPY source ./src\n", ignore) == ["source"]
    assert missing_in_image(dockerfile, ignore.replace("!LICENSE\n", "")) == ["LICENSE"]


def test_the_image_builds_what_the_project_needs() -> None:
    """The wheel's build reads these; without one of them `pip install .` fails in the image."""
    project = (ROOT / "pyproject.toml").read_text()
    dockerfile = (DEPLOY / "Dockerfile").read_text()
    for named in re.findall(r'(?:readme|license-files) = \[?"([^"]+)"', project):
        assert re.search(rf"^COPY .*\b{re.escape(named)}\b", dockerfile, re.MULTILINE), named


# --- all of them -----------------------------------------------------------------------------------------------------


def unknown_settings(texts: dict[str, str]) -> list[str]:
    known = {f"{PREFIX}{name.upper()}" for name in Settings.__dataclass_fields__}
    return [
        f"{file}: {name}"
        for file, text in texts.items()
        for name in re.findall(rf"{PREFIX}[A-Z_]+", text)
        if name not in known
    ]


def test_every_setting_that_they_name_is_one() -> None:
    texts = {each.name: each.read_text() for each in DEPLOY.iterdir()}
    assert unknown_settings({**texts, "deploy.md": GUIDE}) == []
    assert unknown_settings({"x": "GAMEKEEPER_STOP_SECOND=3"}) == ["x: GAMEKEEPER_STOP_SECOND"]


def test_the_guide_names_every_file() -> None:
    assert [each.name for each in DEPLOY.iterdir() if f"deploy/{each.name}" not in GUIDE] == []


def test_the_guide_names_no_file_that_is_not_there() -> None:
    assert [each for each in re.findall(r"\]\(\.\./([\w./-]+)\)", GUIDE) if not (ROOT / each).exists()] == []
