"""Figures for a paper's column, from results and tables; they take matplotlib.

    ax = ff.plots.window(ff.compare(["hystart", "astart"], buffer="0.25bdp"))
    ax.figure.savefig("window.pdf")

`window`, `delay` and `delivered` draw a result over time; the others draw a table of flows: a
Table, or any dataframe or Arrow table of the same columns, from one call or from many
(`together`). Each draws into `ax` if one is given, and returns it. A column is 88 mm wide.
"""

from __future__ import annotations

import functools
import math
from collections import defaultdict
from itertools import cycle
from statistics import median

from ._native import Error, Result, Table

#: A column of a two-column page, inches.
COLUMN = 3.46
#: Okabe and Ito's colours, which most colour-blind readers can tell apart; each has a line style
#: and a marker of its own, for print without colour.
COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000"]
LINES = ["-", "--", "-.", ":", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 1)), (0, (8, 2))]
MARKERS = ["o", "s", "^", "D", "v", "P", "X"]
STYLE = {
    "font.size": 8,
    "axes.titlesize": 8,
    "legend.fontsize": 7,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.linewidth": 0.4,
    "grid.alpha": 0.4,
    "lines.linewidth": 1.1,
    "legend.frameon": False,
    "legend.handlelength": 2.4,
    "figure.dpi": 150,
    "savefig.dpi": 300,
    "pdf.fonttype": 42,
}


def _styled(draw):
    """What it draws has the style, whatever the program's own is."""

    @functools.wraps(draw)
    def styled(*given, **named):
        import matplotlib.pyplot as plt

        with plt.rc_context(STYLE):
            return draw(*given, **named)

    return styled


@_styled
def window(result, flow=0, ax=None):
    """cwnd and what is in flight (thin), packets, over time; a marker where start-up ended."""
    ax = ax or _axes()
    looks, series = _looks(result.flows["alias"]), _series(result, flow)
    for alias, look in looks.items():
        ax.plot(*series[alias, "cwnd_packets"], **look, label=alias)
        thin = {**look, "linewidth": 0.5, "alpha": 0.6}
        ax.plot(*series[alias, "in_flight_packets"], **thin)
    for row in _first(result, flow):
        if row["exit_time_s"] is not None:
            at, marker = (
                row["start_s"] + row["exit_time_s"],
                MARKERS[list(looks).index(row["alias"])],
            )
            colour = looks[row["alias"]]["color"]
            ax.plot(
                at,
                row["exit_cwnd_packets"],
                marker,
                color=colour,
                markersize=5,
                zorder=3,
                markeredgecolor="white",
                markeredgewidth=0.5,
            )
    bdp = next(iter(_first(result, flow)))["bdp_packets"]
    if bdp:
        ax.axhline(bdp, color="0.5", linewidth=0.6)
        ax.annotate(
            "BDP",
            (0.01, bdp),
            xycoords=("axes fraction", "data"),
            va="bottom",
            fontsize=7,
            color="0.4",
        )
    ax.set(xlabel="time (s)", ylabel="cwnd (packets)")
    return _legend(ax)


@_styled
def delay(result, flow=0, of="rtt", ax=None):
    """The smoothed RTT, ms; or, `of="queue"`, packets waiting at the first link, over time."""
    variables = {
        "rtt": ("srtt_ms", "smoothed RTT (ms)"),
        "queue": ("queue_packets", "queue (packets)"),
    }
    if of not in variables:
        raise Error(f"of = {of!r}; accepted: {', '.join(map(repr, variables))}")
    variable, label = variables[of]
    ax = ax or _axes()
    series = _series(result, flow)
    for alias, look in _looks(result.flows["alias"]).items():
        times, values = series[alias, variable]
        known = [
            (t, v) for t, v in zip(times, values) if v is not None and (of == "queue" or v > 0)
        ]
        ax.plot(*zip(*known), **look, label=alias)
    ax.set(xlabel="time (s)", ylabel=label)
    return _legend(ax)


@_styled
def delivered(result, flow=0, ax=None):
    """Payload delivered, MB, over time."""
    ax = ax or _axes()
    series, packet = _series(result, flow), result.flows["packet_bytes"][0]
    for alias, look in _looks(result.flows["alias"]).items():
        times, packets = series[alias, "delivered_packets"]
        ax.plot(times, [(n or 0) * packet / 1e6 for n in packets], **look, label=alias)
    ax.set(xlabel="time (s)", ylabel="delivered (MB)")
    return _legend(ax)


@_styled
def completion(flows, baseline, axes=None):
    """Mean completion time against size, and below it the gain over a baseline control."""
    upper, lower = axes if axes is not None else _axes(2, COLUMN * 0.95, sharex=True)
    means = _means(_rows(flows, "size_bytes", "completion_time_s"), "size_bytes")
    if baseline not in means:
        raise Error(f"baseline = {baseline!r}; accepted: {', '.join(means)}")
    for (alias, look), marker in zip(_looks(means).items(), cycle(MARKERS)):
        sizes = sorted(means[alias])
        times = [means[alias][size] for size in sizes]
        look = {**look, "marker": marker, "markersize": 3}
        upper.plot([size / 1e6 for size in sizes], times, **look, label=alias)
        both = [size for size in sizes if size in means[baseline]]
        gains = [100 * (1 - means[alias][size] / means[baseline][size]) for size in both]
        lower.plot([size / 1e6 for size in both], gains, **look)
    upper.set(xscale="log", yscale="log", ylabel="completion (s)")
    lower.set(xlabel="size (MB)", ylabel=f"faster than\n{baseline} (%)")
    lower.axhline(0, color="0.5", linewidth=0.6)
    _plain(upper.yaxis, lower.xaxis)
    _legend(upper)
    return upper, lower


@_styled
def ecdf(flows, ax=None):
    """The share of flows done within a time; those that were not done count as never."""
    ax = ax or _axes()
    times = defaultdict(list)
    for row in _rows(flows, "completion_time_s", known=False):
        times[row["alias"]].append(row["completion_time_s"])
    for alias, look in _looks(times).items():
        done = sorted(time for time in times[alias] if time is not None)
        shares = [(place + 1) / len(times[alias]) for place in range(len(done))]
        ax.step(
            [*done[:1], *done], [0, *shares][: len(done) + 1], where="post", **look, label=alias
        )
    ax.set(xlabel="completion time (s)", ylabel="share of flows", ylim=(0, 1.02))
    return _legend(ax)


@_styled
def heatmap(flows, control, baseline, axes=None):
    """How much faster a control completes than the baseline, %, over rate and RTT, a panel for
    each buffer."""
    rows = _rows(flows, "rate_bps", "rtt_s", "buffer_over_bdp", "completion_time_s")
    times, shares = defaultdict(lambda: defaultdict(list)), defaultdict(list)
    for row in rows:
        # A buffer is whole packets: shares that were meant to be one differ a little.
        buffer = round(2 * math.log2(max(row["buffer_over_bdp"], 1e-3)))
        shares[buffer].append(row["buffer_over_bdp"])
        times[buffer, row["rtt_s"], row["rate_bps"]][row["alias"]].append(row["completion_time_s"])
    both = {at: of for at, of in times.items() if control in of and baseline in of}
    if not both:
        raise Error(f"no point has both {control!r} and {baseline!r}")
    buffers, rtts, rates = (sorted({at[part] for at in both}) for part in range(3))
    if axes is None:
        axes = _axes(1, 1.9, columns=len(buffers), sharey=True)
    axes = [axes] if len(buffers) == 1 else list(axes)
    gain = {at: 100 * (1 - _mean(of[control]) / _mean(of[baseline])) for at, of in both.items()}
    most = max(1, *(abs(value) for value in gain.values()))
    for ax, buffer in zip(axes, buffers):
        grid = [[gain.get((buffer, rtt, rate), float("nan")) for rate in rates] for rtt in rtts]
        image = ax.imshow(grid, cmap="RdBu", vmin=-most, vmax=most, origin="lower", aspect="auto")
        ax.set(title=f"{median(shares[buffer]):.2g} BDP")
        ax.set_xticks(range(len(rates)), [f"{rate / 1e6:g}" for rate in rates])
        ax.set_yticks(range(len(rtts)), [f"{1e3 * rtt:g}" for rtt in rtts])
        ax.grid(visible=False)
        for y, line in enumerate(grid):
            for x, value in enumerate(line):
                colour = "white" if abs(value) > 0.6 * most else "black"
                ax.text(x, y, f"{value:.0f}", ha="center", va="center", fontsize=6, color=colour)
    axes[0].set_ylabel("RTT (ms)")
    axes[0].figure.supxlabel("rate (Mbps), a panel for each buffer", fontsize=8)
    bar = axes[0].figure.colorbar(image, ax=axes)
    bar.set_label(f"{control} faster\nthan {baseline} (%)", fontsize=7)
    return axes


@_styled
def exits(flows, ax=None):
    """The window at the end of start-up over the BDP, a dot for each flow: early below 0.6, late
    above 1.1."""
    ax = ax or _axes()
    found = defaultdict(list)
    for row in _rows(flows, "exit_window_over_bdp", known=False):
        found[row["alias"]].append(row["exit_window_over_bdp"])
    looks = _looks(found)
    for place, (alias, look) in enumerate(looks.items()):
        known = sorted(share for share in found[alias] if share)
        spread = [place + 0.3 * ((k * 0.618) % 1 - 0.5) for k in range(len(known))]
        ax.plot(
            known,
            spread,
            MARKERS[place % len(MARKERS)],
            color=look["color"],
            markersize=3,
            alpha=0.6,
        )
        never = len(found[alias]) - len(known)
        if never:
            ax.annotate(
                f"{never} never left",
                (1, place),
                xycoords=("axes fraction", "data"),
                ha="right",
                va="center",
                fontsize=6,
                color="0.4",
            )
    ax.axvspan(0.6, 1.1, color="0.9", zorder=0)
    ax.text(0.81, 1.01, "right", transform=ax.get_xaxis_transform(), ha="center", fontsize=7)
    for at, word in ((0.02, "early"), (0.98, "late")):
        ax.text(
            at, 1.01, word, transform=ax.transAxes, ha="left" if at < 0.5 else "right", fontsize=7
        )
    ax.set_yticks(range(len(looks)), list(looks))
    ax.set(xscale="log", xlabel="window at the exit (BDP)")
    _plain(ax.xaxis)
    ax.invert_yaxis()
    return ax


@_styled
def harm(flows, alone, flow=0, ax=None):
    """Packets dropped against the completion time of the other flows, means by control; the area
    is the harm to flow number `flow`: what it lost of the throughput that it has in `alone`."""
    ax = ax or _axes()
    solo = _mean(
        [row["throughput_bps"] for row in _rows(alone, "throughput_bps") if row["flow"] == flow]
    )
    of = defaultdict(lambda: defaultdict(list))
    for row in _rows(flows, "completion_time_s", "bottleneck_drops", known=False):
        mine = of[row["alias"]]
        if row["flow"] == flow:
            mine["harm"].append(max(0.0, 1 - row["throughput_bps"] / solo))
            mine["drops"].append(row["bottleneck_drops"])
        elif row["completion_time_s"] is not None:
            mine["time"].append(row["completion_time_s"])
    looks = _looks(of)
    # The flow that was there is part of every run's name.
    shared = set.intersection(*(set(alias.split(", ")) for alias in of)) if len(of) > 1 else set()
    for alias, mine in of.items():
        name = ", ".join(part for part in alias.split(", ") if part not in shared)
        if not mine["harm"] or not mine["time"]:
            continue
        at, harmed = (_mean(mine["time"]), _mean(mine["drops"])), _mean(mine["harm"])
        ax.scatter(*at, s=10 + 600 * harmed, color=looks[alias]["color"], alpha=0.6, linewidths=0)
        ax.annotate(
            f"{name} ({100 * harmed:.0f} %)",
            at,
            fontsize=7,
            ha="center",
            va="bottom",
            xytext=(0, 3 + 13 * harmed**0.5),
            textcoords="offset points",
        )
    if not ax.collections:
        raise Error(f"no flow beside number {flow} was done; accepted: runs that are long enough")
    ax.margins(0.3)
    ax.set(xlabel="completion time (s)", ylabel="drops (packets)")
    ax.set_title("area and %: harm to the flow that was there")
    return ax


def together(*tables):
    """The rows of several tables of flows as one, for these figures."""
    return [row for table in tables for row in _all(table)]


def _all(table):
    if isinstance(table, Result):
        table = table.flows
    if isinstance(table, (Table,)):
        return table.to_dicts()
    if isinstance(table, list):
        return table
    import pyarrow

    return pyarrow.table(table).to_pylist()


def _rows(table, *needed, known=True):
    """The rows; if `known`, those that have a value of each column that is needed."""
    rows = _all(table)
    lacks = [name for name in ("alias", *needed) if rows and name not in rows[0]]
    if lacks or not rows:
        raise Error(f"a table of flows: lacks {', '.join(lacks) or 'rows'}; accepted: Result.flows")
    return [row for row in rows if not known or all(row[name] is not None for name in needed)]


def _first(result, flow):
    """The rows of one flow, in the first run of each control."""
    seed = result.flows["seed"][0]
    return [row for row in result.flows.to_dicts() if (row["flow"], row["seed"]) == (flow, seed)]


def _series(result, flow):
    """Times and values by control and variable: of one flow and of the first link, first run."""
    series, found = result.series, defaultdict(lambda: ([], []))
    names = ("seed", "flow", "link", "alias", "variable", "time_s", "value")
    columns = [series[name] for name in names]
    seed, links = columns[0][0], [link for link in columns[2] if link is not None]
    for of_seed, number, link, alias, variable, time, value in zip(*columns):
        if of_seed == seed and (number == flow or (link is not None and link == links[0])):
            times, values = found[alias, variable]
            times.append(time)
            values.append(value)
    return found


def _mean(values):
    return sum(values) / len(values)


def _means(rows, factor):
    found = defaultdict(lambda: defaultdict(list))
    for row in rows:
        found[row["alias"]][row[factor]].append(row["completion_time_s"])
    return {alias: {at: _mean(all) for at, all in of.items()} for alias, of in found.items()}


def _looks(names):
    """A colour and a line style for each control, in the order in which they come."""
    looks = zip(cycle(COLOURS), cycle(LINES))
    return {name: {"color": c, "linestyle": s} for name, (c, s) in zip(dict.fromkeys(names), looks)}


def _axes(rows=1, height=2.1, columns=1, **more):
    """New axes of a column's width."""
    import matplotlib.pyplot as plt

    size = (COLUMN, height)
    return plt.subplots(rows, columns, figsize=size, layout="constrained", **more)[1]


def _legend(ax):
    if len(ax.get_legend_handles_labels()[1]) > 1:
        ax.legend(loc="best")
    return ax


def _plain(*axes):
    """Logarithmic axes with numbers as people write them."""
    from matplotlib.ticker import LogLocator, NullFormatter

    for axis in axes:
        axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axis.set_major_formatter("{x:g}")
        axis.set_minor_formatter(NullFormatter())
