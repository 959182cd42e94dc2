"""Imports that did not finish."""

from gamekeeper.doctor.findings import ERROR, NOTE, Finding
from gamekeeper.store import imports
from gamekeeper.store.engine import Reading

IMPORTS = "imports"
RESUME_ADVICE = (
    "not everything is here. Give the same command again, and it goes on: gamekeeper import intersect … --report"
)


async def find_unfinished_imports(tx: Reading) -> list[Finding]:
    """Imports that broke off; whether one runs right now cannot be known."""
    found: list[Finding] = []
    for stage, report, followed in await imports.find_unfinished(tx):
        what = f"The import with the report {report} broke off in the stage {stage}"
        later = f"{what}; a later one was finished. If that was of the same game, nothing is missing."
        message = f"{what}, or is at it now: {RESUME_ADVICE} {report}"
        found.append(Finding(NOTE, IMPORTS, later) if followed else Finding(ERROR, IMPORTS, message))
    return found
