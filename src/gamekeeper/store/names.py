"""Look-ups by name, as parameters of the statements called `…_by_fold`."""

CLASH = "\x01"  # follows the fold of a name that another has already, with the id after it
AFTER_CLASHES = "\x02"  # the first character behind that


def build_parameters(fold: str, name: str) -> tuple[str, str, str]:
    """Return the fold, the exact name that wins among clashing ones, and the end of their range.

    An empty name matches none: then only the row that has the fold itself is found.
    """
    return fold, name, fold + AFTER_CLASHES
