from benchmarks import rounds
from benchmarks.results import Sample


def test_the_order_turns_with_every_round() -> None:
    assert [rounds.order("abc", number) for number in range(3)] == ["abc", "cba", "abc"]


def test_a_figure_is_found_by_candidate_and_round() -> None:
    samples = [
        Sample("T1", name, number, 10.0 * number, 1.0, 1.0, 1.0) for number in (1, 2) for name in ("ours", "hello")
    ]
    assert rounds.of(samples, "ours", "cpu_us") == {1: 10.0, 2: 20.0}
    assert rounds.of(samples, "nobody", "cpu_us") == {}
