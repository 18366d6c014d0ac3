"""The plots of the operators' page in Chromium: scales, gaps, outliers, keys and tables."""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

_HOUR = 3600
_NOON = 1_795_435_200  # 23 November 2026 12:00 UTC

_SHOW = """async ({options, spans, series}) => {
    const { createPlot } = await import("/plots.js");
    const format = (value) => value === null ? "none" : String(value);
    const total = (values) => values.reduce((sum, value) => sum + (value ?? 0), 0);
    const plot = createPlot({ id: "tried", title: "Tried", empty: "Nothing here.", format, total, ...options });
    document.body.replaceChildren(plot.element);
    plot.show({ spans, series, period: "24 hours" });
}"""


@pytest.fixture
def page(browser: Browser, static_url: str) -> Iterator[Page]:
    context = browser.new_context(
        locale="en-GB", timezone_id="Europe/Berlin", viewport={"width": 390, "height": 844}
    )
    page = context.new_page()
    failures: list[str] = []
    page.on("pageerror", lambda error: failures.append(str(error)))
    page.goto(f"{static_url}plots.css")
    yield page
    context.close()
    assert failures == []


def _call(page: Page, module: str, function: str, *arguments: object) -> Any:
    return page.evaluate(
        "async ([module, name, given]) => (await import(module))[name](...given)",
        [f"/{module}", function, list(arguments)],
    )


def _show(page: Page, kind: str, *series: list[float | None], **options: object) -> None:
    spans = [{"from": _NOON + at * _HOUR, "until": _NOON + (at + 1) * _HOUR} for at in range(len(series[0]))]
    named = [{"name": f"series {number}", "values": values} for number, values in enumerate(series)]
    page.evaluate(_SHOW, {"options": {"kind": kind, **options}, "spans": spans, "series": named})
    page.locator(".plot-area svg").wait_for()


@pytest.mark.parametrize(
    ("largest", "options", "ticks"),
    [
        (0, {}, [0, 1]),
        (3, {"isWhole": True}, [0, 1, 2, 3]),
        (0.37, {}, [0, 0.1, 0.2, 0.3, 0.4]),
        (7, {}, [0, 2, 4, 6, 8]),
        (100, {}, [0, 50, 100]),
        (0.04, {"isDuration": True}, [0, 0.01, 0.02, 0.03, 0.04]),
        (200, {"isDuration": True}, [0, 60, 120, 180, 240]),
        (500_000, {"isDuration": True}, [0, 172_800, 345_600, 518_400]),
    ],
)
def test_ticks_are_round_numbers_that_reach_the_largest_value(
    page: Page, largest: float, options: dict[str, bool], ticks: list[float]
) -> None:
    assert _call(page, "plot_scales.js", "niceTicks", largest, options) == ticks


def test_a_huge_outlier_does_not_flatten_the_other_values(page: Page) -> None:
    scale = _call(page, "plot_scales.js", "valueScale", [*[2, 3, 4] * 6, None, 86_400])

    assert scale == {"ticks": [0, 1, 2, 3, 4], "top": 4, "above": 1, "max": 86_400}


def test_among_few_values_none_is_an_outlier(page: Page) -> None:
    assert _call(page, "plot_scales.js", "valueScale", [1, 2, 1000])["above"] == 0


def test_a_value_without_neighbours_is_a_run_of_its_own(page: Page) -> None:
    assert _call(page, "plot_scales.js", "runs", [None, 1, None, 0, 2, 3]) == [[1, 1], [3, 5]]


def test_days_begin_at_local_midnight_also_when_the_clocks_change(page: Page) -> None:
    saturday = 1_792_792_800  # 24 October 2026 00:00 in Berlin, a day before summer time ends
    days = _call(page, "plot_scales.js", "timeTicks", saturday, saturday + 4 * 86_400, 5)

    assert [tick["at"] - saturday for tick in days] == [0, 86_400, 86_400 + 90_000, 86_400 * 2 + 90_000]
    assert all(tick["isDay"] for tick in days)


def test_a_plot_without_values_says_so_and_keeps_its_axes(page: Page) -> None:
    _show(page, "lines", [None, None, None])

    assert page.locator(".plot-empty").inner_text() == "Nothing here."
    assert page.locator(".plot-area .mark-line, .plot-area .mark-dot").count() == 0
    assert page.locator(".plot-label").count() >= 3


def test_a_single_value_is_a_dot_and_a_gap_is_not_bridged(page: Page) -> None:
    _show(page, "lines", [None, 0, None, 2, 3, None, 4, 5])

    assert page.locator(".mark-dot").count() == 1
    assert page.locator(".plot-area .mark-line").count() == 2
    assert page.locator(".plot-empty").count() == 0


def test_parts_of_a_bar_stand_on_each_other(page: Page) -> None:
    _show(page, "bars", [1, 2], [3, 0])

    bars = page.locator(".plot-area rect").evaluate_all(
        "all => all.map(bar => ['y', 'height'].map(name => Number(bar.getAttribute(name))))"
    )

    lower, upper, alone = bars
    assert upper[0] + upper[1] == pytest.approx(lower[0], abs=0.2)
    assert [upper[1] / lower[1], alone[1] / lower[1]] == pytest.approx([3, 2], abs=0.05)


def test_a_value_above_the_scale_has_a_sign_and_is_told_in_words(page: Page) -> None:
    _show(page, "bars", [*[5] * 12, 70_000])

    assert page.locator(".mark-above").count() == 1
    assert page.locator(".plot-note").inner_text() == "▲ 1 above the scale, up to 70000."


def test_arrow_keys_read_the_values_out(page: Page) -> None:
    _show(page, "bars", [1, 2, 3], [10, 20, None])
    area = page.get_by_role("slider")
    assert area.get_attribute("aria-valuetext") == "24 hours: series 0 6, series 1 30"

    area.focus()
    for key in ("Home", "ArrowRight"):
        area.press(key)

    assert area.get_attribute("aria-valuetext") == "Mon 23 Nov, 14:00–15:00: series 0 2, series 1 20"
    assert page.locator(".plot-legend strong").all_inner_texts() == ["2", "20"]
    area.press("End")
    assert page.locator(".plot-legend strong").all_inner_texts() == ["3", "none"]
    area.press("Escape")
    assert page.locator(".plot-legend strong").all_inner_texts() == ["6", "30"]


def test_the_table_has_every_value_newest_first(page: Page) -> None:
    _show(page, "lines", [1, None])

    page.locator("summary").click()

    assert page.locator("tbody tr").all_inner_texts() == [
        "Mon 23 Nov, 14:00–15:00\tnone",
        "Mon 23 Nov, 13:00–14:00\t1",
    ]


def test_names_of_models_are_text(page: Page) -> None:
    _show(page, "bars", [1])
    hostile = "<img src=x onerror=document.title='run'>"
    page.evaluate(
        _SHOW,
        {
            "options": {"kind": "bars"},
            "spans": [{"from": _NOON, "until": _NOON + _HOUR}],
            "series": [{"name": hostile, "values": [1]}],
        },
    )

    page.locator("summary").click()

    assert page.locator(".plot-name").inner_text() == hostile
    assert page.locator("img").count() == 0


def test_groups_of_points_follow_the_local_day_and_keep_every_turn(page: Page) -> None:
    points = [{"at": _NOON + at * _HOUR, "turns": 1} for at in range(720)]

    spans = _call(page, "operations_series.js", "groupPoints", points, _HOUR)

    assert len(spans) == 31
    assert {(span["from"] + _HOUR) % 86_400 for span in spans[1:]} == {0}
    assert sum(_call(page, "operations_series.js", "turnSeries", spans)[0]["values"]) == 720


def test_small_models_are_joined_and_nothing_is_lost(page: Page) -> None:
    models = {f"model {number}": {"prompt_tokens": number, "completion_tokens": 1} for number in range(9)}
    spans = [{"points": [{"models": models}]}]

    series = page.evaluate(
        "async (spans) => { const all = await import('/operations_series.js'); "
        "return all.modelSeries(spans, all.tokensOf); }",
        spans,
    )

    assert [each["name"] for each in series] == ["model 8", "model 7", "model 6", "model 5", "other models"]
    assert [each["values"] for each in series] == [[9], [8], [7], [6], [15]]
