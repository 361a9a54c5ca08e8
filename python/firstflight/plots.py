"""The eight figures for a column of a paper, 88 mm wide, by matplotlib; `charts` has the same for
the screen.

Each draws into `ax` (`axes` where there are several) if it is given, and returns it; what stands
in each is in `_figures`.
"""

from __future__ import annotations

from itertools import cycle

from . import _figures as figures
from ._figures import together as together

#: A column of a two-column page, inches.
COLUMN = 3.46
#: Okabe and Ito's colours, which most colour-blind readers can tell apart; each has a line style
#: and a marker of its own, for print without colour.
COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000"]
LINES = ["-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 1)), (0, (8, 2))]
MARKERS = ["o", "s", "^", "D", "v", "P", "X"]
#: The style of the figures, for `plt.style.use`: it stands in column.mplstyle.
STYLE = "firstflight.column"


def window(result, flow=0, ax=None):
    """cwnd and what is in flight (thin), packets, over time; a marker where start-up ended."""
    return _drawn(figures.window(result, flow), ax)[0]


def delay(result, flow=0, of="rtt", ax=None):
    """The smoothed RTT, ms; or, `of="queue"`, packets waiting at the first link, over time."""
    return _drawn(figures.delay(result, flow, of), ax)[0]


def delivered(result, flow=0, ax=None):
    """Payload delivered, MB, over time."""
    return _drawn(figures.delivered(result, flow), ax)[0]


def completion(flows, baseline, axes=None):
    """Mean completion time against size, and below it the gain over a baseline control."""
    return tuple(_drawn(figures.completion(flows, baseline), axes, COLUMN * 0.95))


def ecdf(flows, ax=None):
    """The share of flows done within a time; those that were not done count as never."""
    return _drawn(figures.ecdf(flows), ax)[0]


def heatmap(flows, control, baseline, axes=None):
    """How much faster a control completes than the baseline, %, over rate and RTT, a panel for
    each buffer."""
    return _drawn(figures.heatmap(flows, control, baseline), axes, 1.9)


def exits(flows, ax=None):
    """The window at the end of start-up over the BDP, a dot for each flow: early below 0.6, late
    above 1.1."""
    return _drawn(figures.exits(flows), ax)[0]


def harm(flows, alone, flow=0, ax=None):
    """Packets dropped against the completion time of the other flows, means by control; the area
    is the harm to flow number `flow`: what it lost of the throughput that it has in `alone`."""
    return _drawn(figures.harm(flows, alone, flow), ax)[0]


def _drawn(figure, given, height=2.1):
    """Draws the panels into the axes that are given, or new ones, and returns them."""
    import matplotlib.pyplot as plt

    # Whatever the program's own style is.
    with plt.style.context(STYLE):
        count = len(figure.panels)
        if given is None:
            side_by_side = bool(figure.x_label)
            rows, columns = (1, count) if side_by_side else (count, 1)
            share = {"sharey": True} if side_by_side else {"sharex": True}
            size = (COLUMN, height)
            given = plt.subplots(rows, columns, figsize=size, layout="constrained", **share)[1]
        axes = [given] if hasattr(given, "plot") else list(given)
        images = [_panel(panel, ax, figure) for panel, ax in zip(figure.panels, axes)]
        if figure.x_label:
            axes[0].figure.supxlabel(figure.x_label, fontsize=8)
            bar = axes[0].figure.colorbar(images[-1], ax=axes)
            bar.set_label(figure.panels[-1].marks[-1].label, fontsize=7)
        return axes


def _panel(panel, ax, figure):
    """Draws a panel; the image of its cells, if it has some."""
    styles = zip(panel.names, cycle(COLOURS), cycle(LINES), cycle(MARKERS))
    looks = {name: (colour, line, marker) for name, colour, line, marker in styles}
    image = None
    for mark in panel.marks:
        image = DRAW[type(mark)](ax, mark, looks.get(getattr(mark, "name", None))) or image
    ax.set(xlabel=panel.x.label, ylabel=panel.y.label, title=panel.title)
    for axis, of in ((panel.x, "x"), (panel.y, "y")):
        if axis.log:
            ax.set(**{f"{of}scale": "log"})
            _plain(getattr(ax, f"{of}axis"))
        if axis.labels is not None:
            ax.set(**{f"{of}ticks": range(len(axis.labels)), f"{of}ticklabels": axis.labels})
        if axis.limits:
            ax.set(**{f"{of}lim": axis.limits})
    if panel.y.downwards:
        ax.invert_yaxis()
    if any(isinstance(mark, figures.Area) for mark in panel.marks):
        ax.margins(0.3)
    first = panel is figure.panels[0]
    if first and not figure.explained and len(ax.get_legend_handles_labels()[1]) > 1:
        ax.legend(loc="best")
    return image


def _line(ax, line, look):
    colour, style, marker = look
    draw = ax.plot
    more = {"label": line.name}
    if line.thin:
        more = {"linewidth": 0.5, "alpha": 0.6}
    if line.dots:
        more.update(marker=marker, markersize=3)
    if line.step:
        draw, more = ax.step, {**more, "where": "post"}
    draw(line.xs, line.ys, color=colour, linestyle=style, **more)


def _dots(ax, dots, look):
    colour, _, marker = look
    more = {"markersize": 3, "alpha": 0.6}
    if dots.one:
        more = {"markersize": 5, "zorder": 3, "markeredgecolor": "white", "markeredgewidth": 0.5}
    ax.plot(dots.xs, dots.ys, marker, color=colour, **more)


def _area(ax, area, look):
    at, size = (area.x, area.y), 10 + 600 * area.share
    ax.scatter(*at, s=size, color=look[0], alpha=0.6, linewidths=0)
    above = {"xytext": (0, 3 + 13 * area.share**0.5), "textcoords": "offset points"}
    ax.annotate(area.text, at, fontsize=7, ha="center", va="bottom", **above)


def _cells(ax, cells, _):
    most, values = cells.most, cells.values
    colours = {"cmap": "RdBu", "vmin": -most, "vmax": most}
    image = ax.imshow(values, **colours, origin="lower", aspect="auto")
    ax.grid(visible=False)
    for y, line in enumerate(values):
        for x, value in enumerate(line):
            colour = "white" if abs(value) > 0.6 * most else "black"
            ax.text(x, y, f"{value:.0f}", ha="center", va="center", fontsize=6, color=colour)
    return image


def _level(ax, level, _):
    ax.axhline(level.y, color="0.5", linewidth=0.6)
    if level.label:
        at = {"xycoords": ("axes fraction", "data"), "va": "bottom"}
        ax.annotate(level.label, (0.01, level.y), **at, fontsize=7, color="0.4")


def _span(ax, span, _):
    ax.axvspan(span.low, span.high, color="0.9", zorder=0)


def _note(ax, note, _):
    scales = tuple("data" if at else "axes fraction" for at in (note.at_x, note.at_y))
    look = {"fontsize": 6, "va": "center", "color": "0.4"} if note.small else {"fontsize": 7}
    ax.annotate(note.text, (note.x, note.y), xycoords=scales, ha=note.align, **look)


#: Who draws what.
DRAW = {
    figures.Line: _line,
    figures.Dots: _dots,
    figures.Area: _area,
    figures.Cells: _cells,
    figures.Level: _level,
    figures.Span: _span,
    figures.Note: _note,
}


def _plain(axis):
    """Numbers as people write them on a logarithmic axis."""
    from matplotlib.ticker import LogLocator, NullFormatter

    axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axis.set_major_formatter("{x:g}")
    axis.set_minor_formatter(NullFormatter())
