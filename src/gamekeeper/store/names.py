"""Parameters of the statements `…_by_fold`, which look up players and accounts by name."""

CLASH = "\x01"  # clash suffix: a duplicate name is stored as fold + "\x01" + id, which is unique and not found by name
AFTER_CLASHES = "\x02"  # sorts after every clash suffix


def build_parameters(fold: str, name: str) -> tuple[str, str, str]:
    """Return the fold, the exact name that is preferred among duplicates, and the end of their range.

    With an empty name, only the row that has the fold without a clash suffix is found.
    """
    return fold, name, fold + AFTER_CLASHES
