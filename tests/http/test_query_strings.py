"""Query strings are split like the standard library's parser splits them."""

from urllib.parse import parse_qsl

import pytest

from gamekeeper.game.refusals import RepeatedField
from gamekeeper.http.request import parse_query
from loops import over


@over("raw", [b"a=1&b=2", b"a", b"a=", b"=1", b"&&a=1&", b"a=b=c", b"a;b=1", b"a=x+y", b"a=%41&b", b"a=%ff", b"a=\xe9"])
def test_query_is_split_like_by_the_standard_library(raw: bytes) -> None:
    assert parse_query(raw) == dict(parse_qsl(raw.decode("latin-1"), keep_blank_values=True, errors="replace"))


@over("raw", [b"size=1&page=1&PAGE=2&SIZE=3", b"page=1&P%41GE=2"])
def test_repeated_parameter_in_any_case_is_refused_as_spelled(raw: bytes) -> None:
    with pytest.raises(RepeatedField, match="'PAGE'"):
        parse_query(raw)
