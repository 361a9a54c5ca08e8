"""The eight figures, by matplotlib and by Altair, show the same numbers."""

import math
import re
from pathlib import Path

import firstflight as ff
import pytest
from firstflight import _figures

pytest.importorskip("matplotlib")
alt = pytest.importorskip("altair")
CONTROLS = ["hystart", "rapid-start", "astart"]
TRANSFER = {"rate": "20Mbps", "rtt": "50ms", "duration": "60s"}


@pytest.fixture(scope="module")
def result():
    return ff.compare(CONTROLS, buffer="0.5bdp", duration="3s", samples=200)


@pytest.fixture(scope="module")
def flows():
    """Two sizes, two rates, two buffers; some flows are not done or never leave start-up."""
    tables = [
        ff.compare(CONTROLS, size=size, rate=rate, buffer=buffer, runs=2, duration="4s").flows
        for size in ("20kB", "2MB")
        for rate in ("5Mbps", "20Mbps")
        for buffer in ("0.25bdp", "1bdp")
    ]
    return ff.plots.together(*tables)


@pytest.fixture(scope="module")
def shared():
    scenario = {"duration": "30s", "path": {"rate": "10Mbps", "rtt": "50ms"}}
    comes = {"start": "3s", "size": "2MB"}
    return [
        ff.run({**scenario, "controls": CONTROLS, "flow": [{"control": "cubic"}, comes]}),
        ff.run({**scenario, "flow": [{"control": "cubic"}]}),
    ]


ARGUMENTS = {
    "window": lambda result, flows, shared: [result],
    "delay": lambda result, flows, shared: [result],
    "delivered": lambda result, flows, shared: [result],
    "completion": lambda result, flows, shared: [flows, "hystart"],
    "ecdf": lambda result, flows, shared: [flows],
    "heatmap": lambda result, flows, shared: [flows, "astart", "hystart"],
    "exits": lambda result, flows, shared: [flows],
    "harm": lambda result, flows, shared: shared,
}


def of_paper(drawn):
    """The points, cells and texts of matplotlib's axes."""
    axes = [drawn] if hasattr(drawn, "lines") else list(drawn)
    points, cells = [], []
    for ax in axes:
        lines = [line for line in ax.lines if line.get_transform() is ax.transData]
        points += [point for line in lines for point in zip(*line.get_data())]
        points += [point for disc in ax.collections for point in disc.get_offsets()]
        cells += [value for image in ax.images for value in image.get_array().data.ravel()]
    labels = [ax.get_xlabel() for ax in axes] + [ax.get_ylabel() for ax in axes]
    words = [text.get_text() for ax in axes for text in ax.texts]
    return points, cells, [label for label in labels if label], words


def of_screen(chart):
    """The same of a chart, from its document, which Altair checks against Vega-Lite's schema."""
    document = chart.to_dict()
    rows = [*rows_in(document)]
    points = [(row["x"], row["y"]) for row in rows if "control" in row]
    cells = [row["value"] for row in rows if "value" in row]
    words = {row["text"] for row in rows if row.get("text")}
    return points, cells, str(document), words


def rows_in(part):
    """The rows of all data in a document."""
    if isinstance(part, dict):
        yield from part.get("data", {}).get("values", [])
    below = part.values() if isinstance(part, dict) else part if isinstance(part, list) else []
    for one in below:
        yield from rows_in(one)


def rounded(points):
    known = [(x, y) for x, y in points if y is not None and not math.isnan(y)]
    return sorted({(float(f"{x:.6g}"), float(f"{y:.6g}")) for x, y in known})


@pytest.mark.parametrize("name", ARGUMENTS)
def test_a_figure_has_the_same_numbers_on_paper_and_on_the_screen(name, result, flows, shared):
    arguments = ARGUMENTS[name](result, flows, shared)
    points, cells, labels, words = of_paper(getattr(ff.plots, name)(*arguments))
    chart = getattr(ff.charts, name)(*arguments)
    seen, values, document, texts = of_screen(chart)
    assert rounded(points) == rounded(seen)
    assert sorted({float(f"{value:.6g}") for value in cells}) == sorted(set(values))
    assert len(rounded(points)) + len(cells) >= 3
    for label in labels:
        assert str(label.split("\n"))[1:-1] in document, label
    # A cell's number is made by the chart.
    assert {word for word in words if not re.fullmatch(r"-?\d+", word)} == texts
    # To zoom and to pick a control; a heat map has neither.
    assert ("'zoom_0'" in document and "'picked_0'" in document) == (name != "heatmap")
    assert "vega" in chart.to_html()


def test_the_look_of_the_figures_is_a_style_of_matplotlib():
    plt = pytest.importorskip("matplotlib.pyplot")
    with plt.style.context(ff.plots.STYLE):
        look = {key: plt.rcParams[key] for key in ("font.size", "axes.spines.top", "pdf.fonttype")}
    assert look == {"font.size": 8, "axes.spines.top": False, "pdf.fonttype": 42}


def test_both_have_the_eight():
    written = Path(_figures.__file__).read_text()
    names = re.findall(r"^def ([a-z]+)\(.*\) -> Figure", written, re.MULTILINE)
    assert names == list(ARGUMENTS)
    for name in names:
        assert getattr(ff.plots, name).__doc__ == getattr(ff.charts, name).__doc__


def test_a_chart_refuses_what_a_plot_refuses(flows):
    with pytest.raises(ff.Error, match="baseline = 'newreno'; accepted: hystart"):
        ff.charts.completion(flows, "newreno")
    with pytest.raises(ff.Error, match="lacks completion_time_s"):
        ff.charts.ecdf([{"alias": "hoe"}])
