"""Charts: positions of points and bars, gaps, and the texts of tooltips and tables."""

from gamekeeper.console import chart, ticks
from gamekeeper.console.chart import BARS, HEIGHT, TOP, ChartSeries, TimeAxis, make_chart
from gamekeeper.console.ticks import DAY_MS, HOUR_MS

MIDNIGHT = 20_000 * DAY_MS
DAYS = TimeAxis(MIDNIGHT, MIDNIGHT + 4 * DAY_MS, [MIDNIGHT + day * DAY_MS for day in range(4)], DAY_MS)


def test_line_is_scaled_to_the_highest_tick() -> None:
    drawn = make_chart("online", "Online", "players", DAYS, [ChartSeries("Maximum", [0, 5, 10, 20])])
    assert [each.label for each in drawn.value_ticks] == ["0", "5", "10", "15", "20"]
    assert [drawn.value_ticks[0].y, drawn.value_ticks[-1].y] == [HEIGHT, TOP]
    assert drawn.series[0].lines == ["125,180 375,137 625,94 875,8"]
    assert drawn.series[0].areas == ["125,180 125,180 375,137 625,94 875,8 875,180"]


def test_unknown_value_interrupts_the_line() -> None:
    drawn = make_chart("online", "Online", "players", DAYS, [ChartSeries("Maximum", [1, None, 1, 1])])
    assert drawn.series[0].lines == ["125,8", "625,8 875,8"]
    assert [each.texts for each in drawn.rows] == [["1"], [""], ["1"], ["1"]]


def test_bars_stand_on_each_other() -> None:
    drawn = make_chart(
        "new", "New", "players", DAYS, [ChartSeries("New", [2, 0, 1, None]), ChartSeries("Back", [1, 3, 0, 0])], BARS
    )
    assert [each.label for each in drawn.value_ticks] == ["0", "1", "2", "3"]
    new, back = (each.bars for each in drawn.series)
    assert [each.x for each in new] == [2.5, 52.5]
    assert [each.width for each in new + back] == [20.0] * 4
    assert new[0].y == round(back[0].y + back[0].height, 1)
    assert (back[0].y, back[1].y, back[1].height) == (TOP, TOP, HEIGHT - TOP)


def test_chart_without_numbers_is_empty() -> None:
    assert make_chart("online", "Online", "players", DAYS, [ChartSeries("Maximum", [None, 0, 0, None])]).is_empty
    assert make_chart("online", "Online", "players", DAYS._replace(starts=[]), [ChartSeries("Maximum", [])]).is_empty
    assert not make_chart("online", "Online", "players", DAYS, [ChartSeries("Maximum", [None, 1, 0, None])]).is_empty


def test_labels_are_as_exact_as_their_step() -> None:
    noon = ticks.to_milliseconds(ticks.to_datetime(MIDNIGHT)) + 12 * HOUR_MS
    assert chart.label_step(noon, HOUR_MS) == "4 Oct 2024, 12:00"
    assert chart.label_step(MIDNIGHT, DAY_MS) == "4 Oct 2024"
    assert chart.label_step(MIDNIGHT, 30 * DAY_MS) == "Oct 2024"
