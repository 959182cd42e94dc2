"""The report file of an import: it never overwrites another file, and is needed until the import is complete."""

from pathlib import Path

import pytest

from command_line import CommandLine
from gamekeeper.intersect import importer
from gamekeeper.intersect.sources import BadSource
from intersect_files import IntersectFiles, Make, change, run


async def _broken(*_: object) -> None:
    raise BadSource("it broke off")


def break_off(command: CommandLine, made: IntersectFiles, monkeypatch: pytest.MonkeyPatch) -> bytes:
    """Run the import up to its last stages, and return the report so far."""
    # rename all players, so that the report has entries
    change(made.players, "UPDATE Players SET Name = Name || ' the Bold'")
    with monkeypatch.context() as patched:
        patched.setattr(importer, "_report_unused_bags", _broken)
        assert "it broke off" in command.refuses("import", "intersect", *made.options)
    return made.report.read_bytes()


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
def test_other_file_is_not_overwritten_by_report(files: Make, unmigrated: CommandLine) -> None:
    made = files()
    made.report.with_name("diary.txt").write_text("Dear diary")
    made.report.with_name("lines.jsonl").write_text('{"table":"Users","id":"","reason":"","taken":true}\n')
    made.report.with_name("other.jsonl").write_text('{"source":"00"}\n')
    for victim in ("playerdata.db", "gamedata.db", "diary.txt", "lines.jsonl", "other.jsonl"):
        path = made.report.with_name(victim)
        before = path.read_bytes()
        for more in ([], ["--dry-run"]):
            told = unmigrated.refuses("import", "intersect", *made._replace(report=path).options, *more)
            assert f"{path} exists and is not a report of this import. Choose another report file" in told
        assert path.read_bytes() == before
    assert not Path(unmigrated.database.removeprefix("sqlite:///")).exists()


def test_resume_needs_the_same_report(files: Make, command: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    made = files()
    begun = break_off(command, made, monkeypatch)
    other = made.report.with_name("other.jsonl")
    for more in ([], ["--dry-run"]):
        told = command.refuses("import", "intersect", *made._replace(report=other).options, *more)
        assert f"Add: --report {made.report}" in told
        assert not other.exists()
    made.report.rename(other)
    told = command.refuses("import", "intersect", *made.options)
    assert f"{made.report} was deleted or truncated" in told
    assert not made.report.exists()
    other.rename(made.report)
    assert run(command, made)["changed"]
    assert made.report.read_bytes().startswith(begun)
