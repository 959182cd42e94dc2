"""Check for imports that did not finish."""

from gamekeeper.doctor.findings import ERROR, NOTE, DoctorFinding
from gamekeeper.store import imports
from gamekeeper.store.engine import Reading

IMPORTS = "imports"
RESUME_ADVICE = "data is missing. To continue it, run the same command again: gamekeeper import intersect … --report"


async def find_unfinished_imports(tx: Reading) -> list[DoctorFinding]:
    """Find imports that were interrupted or are still running: the database does not show which of the two."""
    found: list[DoctorFinding] = []
    for stage, report, followed in await imports.find_unfinished(tx):
        what = f"The import with the report {report} was interrupted in the stage {stage}"
        later = f"{what}. A later import finished; if it was of the same game, nothing is missing."
        message = f"{what}, or is still running: {RESUME_ADVICE} {report}"
        found.append(DoctorFinding(NOTE, IMPORTS, later) if followed else DoctorFinding(ERROR, IMPORTS, message))
    return found
