"""Parameters of the statements `…_by_fold`, which look up players and accounts by name."""

CLASH = "\x01"  # clash suffix: a duplicate name is stored as fold + "\x01" + id, which is unique and not found by name
AFTER_CLASHES = "\x02"  # upper end of the range of duplicate names: sorts after every clash suffix


def build_parameters(fold: str, name: str) -> tuple[str, str, str]:
    """Return the parameters of a look-up by name: fold, exact name preferred among duplicates, end of their range.

    With an empty name, only the row that has the fold without a clash suffix is found.
    """
    return fold, name, fold + AFTER_CLASHES
