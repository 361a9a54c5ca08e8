"""The eight figures for the screen, by Altair: each takes what its namesake in `plots` takes, and
returns a chart to zoom (wheel), to move (drag), and to ask for values (pointer). A control is
picked by a click on its name.

Altair, because a chart is a document without code (Vega-Lite): notebooks draw it themselves,
`chart.save("figure.html")` makes a page of it, and no browser takes part in its tests.
"""

from __future__ import annotations

import functools
import math
from typing import Any

from . import _figures as figures
from ._figures import together as together
from .plots import COLOURS

#: Size of a panel, pixels; of two that share an axis; of one among several side by side.
WIDTH, HEIGHT, LOW, NARROW = 480, 280, 170, 200
#: Dashes of the lines, pixels, in the order of `plots.LINES`.
DASHES = [[], [6, 3], [7, 3, 2, 3], [2, 2], [8, 2, 2, 2, 2, 2], [1, 2], [12, 4]]


def _drawn(figure):
    """Draws what a function of `_figures` says."""

    @functools.wraps(figure)
    def draw(*given, **named):
        return _chart(figure(*given, **named))

    return draw


window = _drawn(figures.window)
delay = _drawn(figures.delay)
delivered = _drawn(figures.delivered)
completion = _drawn(figures.completion)
ecdf = _drawn(figures.ecdf)
heatmap = _drawn(figures.heatmap)
exits = _drawn(figures.exits)
harm = _drawn(figures.harm)


def _chart(figure: figures.Figure) -> Any:
    """A figure as a chart of Altair."""
    try:
        import altair as alt
    except ImportError as problem:
        why = "charts take Altair; accepted: pip install altair, or the same figure of ff.plots"
        raise ImportError(why) from problem

    side_by_side = bool(figure.x_label)
    many = len(figure.panels) > 1
    charts = []
    for number, panel in enumerate(figure.panels):
        size = (WIDTH, LOW if many else HEIGHT)
        room = (NARROW, HEIGHT) if side_by_side else size
        charts.append(_panel(alt, panel, figure, number, room))
    if not many and not side_by_side:
        return charts[0]
    joined = alt.hconcat(*charts) if side_by_side else alt.vconcat(*charts)
    if figure.x_label:
        joined = joined.properties(
            title=alt.Title(figure.x_label, orient="bottom", anchor="middle", fontSize=11)
        )
    return joined


def _panel(alt, panel, figure, number, size):
    """A panel: a layer for the marks of each kind, which are in the order of the first of each."""
    kinds: dict[Any, list[Any]] = {}
    for mark in panel.marks:
        kind = (type(mark), getattr(mark, "thin", False), getattr(mark, "one", False))
        kinds.setdefault(kind, []).append(mark)
    scales = _Scales(alt, panel, figure, size)
    # What lies between two values of x is behind the rest.
    order = sorted(kinds.values(), key=lambda marks: not isinstance(marks[0], figures.Span))
    layers = [DRAW[type(marks[0])](scales, marks) for marks in order]
    named = next((place for place, marks in enumerate(order) if hasattr(marks[0], "name")), None)
    if named is not None:
        layers[named] = layers[named].add_params(scales.picked)
        zoom = alt.selection_interval(bind="scales", name=f"zoom_{number}")
        layers[named] = layers[named].add_params(zoom)
    layered = alt.layer(*layers)
    title = {"title": panel.title} if panel.title else {}
    return layered.properties(width=size[0], height=size[1], **title)


class _Scales:
    """What the layers of a panel share."""

    def __init__(self, alt, panel, figure, size):
        self.alt, self.panel, self.size = alt, panel, size
        # Discs and their names take room beside their middle.
        room = {"padding": 60} if isinstance(panel.marks[0], figures.Area) else {}
        self.x, self.y = _axis(alt, "x", panel.x, **room), _axis(alt, "y", panel.y, **room)
        many = len(panel.names) > 1
        legend = alt.Legend(title=None, symbolType="stroke", symbolStrokeWidth=2)
        hidden = figure.explained or not many or panel is not figure.panels[0]
        legend = None if hidden else legend
        colours = [COLOURS[place % len(COLOURS)] for place in range(len(panel.names))]
        dashes = [DASHES[place % len(DASHES)] or [1, 0] for place in range(len(panel.names))]
        colours, dashes = (alt.Scale(domain=panel.names, range=of) for of in (colours, dashes))
        self.colour = alt.Color("control:N", scale=colours, legend=legend)
        self.dash = alt.StrokeDash("control:N", scale=dashes, legend=legend)
        number = next(place for place, of in enumerate(figure.panels) if of is panel)
        self.picked = alt.selection_point(
            fields=["control"], bind=alt.Undefined if hidden else "legend", name=f"picked_{number}"
        )
        self.faded = alt.when(self.picked).then(alt.value(1)).otherwise(alt.value(0.1))
        names = ((panel.x, "x"), (panel.y, "y"))
        self.tooltip = ["control:N"] + [
            alt.Tooltip(f"{field}:Q", title=axis.label.replace("\n", " "), format=".4~g")
            for axis, field in names
            if axis.label
        ]

    def of(self, rows):
        """A chart of rows."""
        return self.alt.Chart(self.alt.Data(values=rows))

    def curves(self, mark):
        """What tells the controls apart."""
        return mark.encode(
            x=self.x, y=self.y, color=self.colour, opacity=self.faded, tooltip=self.tooltip
        )


def _axis(alt, channel, axis, column=None, **more):
    title = axis.label.split("\n") if axis.label else None
    kind, scale, look = alt.X if channel == "x" else alt.Y, {"zero": False, **more}, {}
    if axis.log:
        scale.update(type="log", nice=False, padding=12)
        look["format"] = "~g"
    if axis.limits:
        scale["domain"] = list(axis.limits)
    if axis.labels is not None:
        names = "[" + ",".join(f"'{_quoted(label)}'" for label in axis.labels) + "]"
        look = {"values": [*range(len(axis.labels))], "labelExpr": f"{names}[datum.value]"}
        scale.update(domain=[-0.5, len(axis.labels) - 0.5], nice=False)
    scale["reverse"] = axis.downwards
    return kind(
        f"{column or channel}:Q", title=title, axis=alt.Axis(**look), scale=alt.Scale(**scale)
    )


def _quoted(label):
    return label.replace("\\", "\\\\").replace("'", "\\'")


def _short(number):
    """Six digits are more than a screen shows, and a notebook keeps each."""
    return None if number is None else float(f"{number:.6g}")


def _points(marks):
    """Rows of points; what a logarithm or a number cannot show is left out."""
    for mark in marks:
        for place, (x, y) in enumerate(zip(mark.xs, mark.ys)):
            yield {"control": mark.name, "x": _short(x), "y": _short(y), "place": place}


def _lines(scales, lines):
    first = lines[0]
    look = {"strokeWidth": 0.8 if first.thin else 2, "interpolate": "linear"}
    if first.step:
        look["interpolate"] = "step-after"
    if first.dots:
        look["point"] = True
    mark = scales.of([*_points(lines)]).mark_line(**look)
    # In the order in which they come, which is that of time.
    return scales.curves(mark).encode(strokeDash=scales.dash, order="place:Q")


def _dots(scales, dots):
    look = {"filled": True, "size": 90 if dots[0].one else 25}
    look.update({"stroke": "white"} if dots[0].one else {"fillOpacity": 0.6})
    return scales.curves(scales.of([*_points(dots)]).mark_point(**look))


def _areas(scales, areas):
    alt = scales.alt
    rows = [
        {"control": area.name, "x": area.x, "y": area.y, "text": area.text, "share": area.share}
        for area in areas
    ]
    size = alt.Size("share:Q", scale=alt.Scale(domain=[0, 1], range=[30, 1800]), legend=None)
    discs = scales.curves(scales.of(rows).mark_circle(opacity=0.6)).encode(size=size)
    texts = scales.of(rows).mark_text(dy=-18).encode(x=scales.x, y=scales.y, text="text:N")
    return discs.encode(opacity=alt.value(0.6)) + texts


def _cells(scales, cells):
    alt, of = scales.alt, cells[0]
    rows = [
        {"x": x, "y": y, "left": x - 0.5, "right": x + 0.5, "low": y - 0.5, "high": y + 0.5}
        | {"value": _short(value)}
        for y, line in enumerate(of.values)
        for x, value in enumerate(line)
        if not math.isnan(value)
    ]
    scale = alt.Scale(scheme="redblue", domain=[-of.most, of.most])
    legend = alt.Legend(title=of.label.split("\n"))
    tooltip = [alt.Tooltip("value:Q", title=of.label.replace("\n", " "), format=".3~g")]
    rects = (
        scales.of(rows)
        .mark_rect()
        .encode(
            x=_axis(alt, "x", scales.panel.x, "left"),
            x2="right:Q",
            y=_axis(alt, "y", scales.panel.y, "low"),
            y2="high:Q",
            color=alt.Color("value:Q", scale=scale, legend=legend),
            tooltip=tooltip,
        )
    )
    dark = f"abs(datum.value) > {0.6 * of.most}"
    colour = alt.when(dark).then(alt.value("white")).otherwise(alt.value("black"))
    texts = (
        scales.of(rows)
        .mark_text(fontSize=10)
        .encode(x=scales.x, y=scales.y, text=alt.Text("value:Q", format=".0f"), color=colour)
    )
    return rects + texts


def _levels(scales, levels):
    rows = [{"y": level.y, "text": level.label} for level in levels]
    rule = scales.of(rows).mark_rule(color="gray").encode(y=scales.y)
    words = {"align": "left", "baseline": "bottom", "color": "gray"}
    texts = (
        scales.of(rows).mark_text(**words).encode(x=scales.alt.value(4), y=scales.y, text="text:N")
    )
    return rule + texts


def _spans(scales, spans):
    rows = [{"x": span.low, "high": span.high} for span in spans]
    return scales.of(rows).mark_rect(color="#e6e6e6").encode(x=scales.x, x2="high:Q")


def _notes(scales, notes):
    """Texts, each of which has its own place and side."""
    alt, (width, height) = scales.alt, scales.size
    layers = []
    for note in notes:
        row = {"x": note.x, "y": note.y, "text": note.text}
        text = scales.of([row]).mark_text(align=note.align, fontSize=10, color="dimgray")
        x = scales.x if note.at_x else alt.value(note.x * width)
        # Above the panel it would be cut off.
        y = scales.y if note.at_y else alt.value(max((1 - note.y) * height, 8))
        layers.append(text.encode(x=x, y=y, text="text:N"))
    return alt.layer(*layers)


#: Who draws what, all marks of a kind at once.
DRAW = {
    figures.Line: _lines,
    figures.Dots: _dots,
    figures.Area: _areas,
    figures.Cells: _cells,
    figures.Level: _levels,
    figures.Span: _spans,
    figures.Note: _notes,
}
