"""Hooks that schemathesis loads: they adapt its requests to our API (see contract_fuzz.py)."""

import os
from typing import Any, cast

import schemathesis

OWN = {each for each in os.environ.get("FUZZ_OWN", "").split(",") if each}
library: Any = schemathesis


@library.hook
def before_call(_context: object, case: Any, _kwargs: object) -> None:  # noqa: ANN401 - one of schemathesis's own
    """Protect the fuzzer's own account: a changed password or revoked token would turn all later answers into 401s."""
    keys: dict[str, object] = case.path_parameters or {}
    for name, value in keys.items():
        if str(value).lower() in OWN:
            keys[name] = "nobody"


@library.hook
def map_body(_context: object, body: Any) -> Any:  # noqa: ANN401 - JSON
    return _with_whole_numbers(body)


def _with_whole_numbers(value: Any) -> Any:  # noqa: ANN401 - JSON
    """Replace floats such as 1.0, which JSON Schema accepts as integers and our API does not."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, dict):
        return {name: _with_whole_numbers(each) for name, each in cast("dict[str, Any]", value).items()}
    return [_with_whole_numbers(each) for each in cast("list[Any]", value)] if isinstance(value, list) else value
