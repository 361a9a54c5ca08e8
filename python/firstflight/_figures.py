"""The eight figures as data: what stands in each, for `plots` and `charts` to draw.

`window`, `delay` and `delivered` take a `Result` and draw its first run of each control over time.
The others take a table of flows: `Result.flows`, a `DataFrame` of the same columns, from one call
or from many (`together`).
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from ._native import Error, Result, Table


@dataclass
class Axis:
    """An axis; `labels` names the places 0, 1, 2 ... of one that has no numbers."""

    label: str = ""
    log: bool = False
    labels: list[str] | None = None
    limits: tuple[float, float] | None = None
    #: The first place is at the top.
    downwards: bool = False


@dataclass
class Line:
    """A curve of a control. `thin`: beside another one of it. `step`: constant until the next."""

    name: str
    xs: Any
    ys: Any
    thin: bool = False
    step: bool = False
    dots: bool = False


@dataclass
class Dots:
    """Points of a control; `one` is a single one that is to be seen beside curves."""

    name: str
    xs: Any
    ys: Any
    one: bool = False


@dataclass
class Area:
    """A disc of a control whose area is a share."""

    name: str
    x: float
    y: float
    share: float
    text: str


@dataclass
class Cells:
    """A value for each place of a grid, a list per row; `most` is the end of the colours."""

    values: list[list[float]]
    most: float
    label: str


@dataclass
class Level:
    """A line across at one height."""

    y: float
    label: str = ""


@dataclass
class Span:
    """What lies between two values of x."""

    low: float
    high: float


@dataclass
class Note:
    """A text; `x` and `y` are shares of the panel unless they are data (`at_x`, `at_y`)."""

    text: str
    x: float
    y: float
    at_x: bool = False
    at_y: bool = False
    align: str = "center"
    small: bool = False


@dataclass
class Panel:
    """Axes and what is drawn there, in this order; `names` are the controls."""

    x: Axis
    y: Axis
    names: list[str]
    marks: list[Any] = field(default_factory=list)
    title: str = ""


@dataclass
class Figure:
    """Panels, one below the other or, with an `x_label` for all, side by side."""

    panels: list[Panel]
    x_label: str = ""
    #: Whether names stand at their marks, so that nothing else explains them.
    explained: bool = False


def window(result, flow=0) -> Figure:
    """cwnd and what is in flight (thin), packets, over time; a marker where start-up ended."""
    names, series = _names(result.flows["alias"]), _series(result, flow)
    panel = Panel(Axis("time (s)"), Axis("cwnd (packets)"), names)
    for name in names:
        panel.marks.append(Line(name, *series[name, "cwnd_packets"]))
        panel.marks.append(Line(name, *series[name, "in_flight_packets"], thin=True))
    rows = _first(result, flow)
    for row in rows:
        if row["exit_time_s"] is not None:
            at = row["start_s"] + row["exit_time_s"]
            panel.marks.append(Dots(row["alias"], [at], [row["exit_cwnd_packets"]], one=True))
    if rows and rows[0]["bdp_packets"]:
        panel.marks.append(Level(rows[0]["bdp_packets"], "BDP"))
    return Figure([panel])


def delay(result, flow=0, of="rtt") -> Figure:
    """The smoothed RTT, ms; or, `of="queue"`, packets waiting at the first link, over time."""
    variables = {
        "rtt": ("srtt_ms", "smoothed RTT (ms)"),
        "queue": ("queue_packets", "queue (packets)"),
    }
    if of not in variables:
        raise Error(f"of = {of!r}; accepted: {', '.join(map(repr, variables))}")
    variable, label = variables[of]
    names, series = _names(result.flows["alias"]), _series(result, flow)
    panel = Panel(Axis("time (s)"), Axis(label), names)
    for name in names:
        times, values = series[name, variable]
        known = [
            (t, v) for t, v in zip(times, values) if v is not None and (of == "queue" or v > 0)
        ]
        panel.marks.append(Line(name, [t for t, _ in known], [v for _, v in known]))
    return Figure([panel])


def delivered(result, flow=0) -> Figure:
    """Payload delivered, MB, over time."""
    names, series = _names(result.flows["alias"]), _series(result, flow)
    packet = result.flows["packet_bytes"][0]
    panel = Panel(Axis("time (s)"), Axis("delivered (MB)"), names)
    for name in names:
        times, packets = series[name, "delivered_packets"]
        panel.marks.append(Line(name, times, [(n or 0) * packet / 1e6 for n in packets]))
    return Figure([panel])


def completion(flows, baseline) -> Figure:
    """Mean completion time against size, and below it the gain over a baseline control."""
    means = _means(_rows(flows, "size_bytes", "completion_time_s"), "size_bytes")
    if baseline not in means:
        raise Error(f"baseline = {baseline!r}; accepted: {', '.join(means)}")
    upper = Panel(Axis(log=True), Axis("completion (s)", log=True), [*means])
    gain = Axis(f"faster than\n{baseline} (%)")
    lower = Panel(Axis("size (MB)", log=True), gain, [*means])
    base = means[baseline]
    for name, times in means.items():
        sizes, both = sorted(times), sorted(times.keys() & base.keys())
        mb = [size / 1e6 for size in sizes]
        upper.marks.append(Line(name, mb, [times[size] for size in sizes], dots=True))
        gains = [100 * (1 - times[size] / base[size]) for size in both]
        lower.marks.append(Line(name, [size / 1e6 for size in both], gains, dots=True))
    lower.marks.append(Level(0))
    return Figure([upper, lower])


def ecdf(flows) -> Figure:
    """The share of flows done within a time; those that were not done count as never."""
    times: dict[str, list[float | None]] = defaultdict(list)
    for row in _rows(flows, "completion_time_s", known=False):
        times[row["alias"]].append(row["completion_time_s"])
    share = Axis("share of flows", limits=(0, 1.02))
    panel = Panel(Axis("completion time (s)"), share, [*times])
    for name, all in times.items():
        done = sorted(time for time in all if time is not None)
        shares = [(place + 1) / len(all) for place in range(len(done))]
        ys = [0, *shares][: len(done) + 1]
        panel.marks.append(Line(name, [*done[:1], *done], ys if done else [], step=True))
    return Figure([panel])


def heatmap(flows, control, baseline) -> Figure:
    """How much faster a control completes than the baseline, %, over rate and RTT, a panel for
    each buffer."""
    rows = _rows(flows, "rate_bps", "rtt_s", "buffer_over_bdp", "completion_time_s")
    times: dict[Any, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    shares: dict[int, list[float]] = defaultdict(list)
    for row in rows:
        # A buffer is whole packets: shares that were meant to be one differ a little.
        buffer = round(2 * math.log2(max(row["buffer_over_bdp"], 1e-3)))
        shares[buffer].append(row["buffer_over_bdp"])
        times[buffer, row["rtt_s"], row["rate_bps"]][row["alias"]].append(row["completion_time_s"])
    both = {at: of for at, of in times.items() if control in of and baseline in of}
    if not both:
        raise Error(f"no point has both {control!r} and {baseline!r}")
    buffers, rtts, rates = (sorted({at[part] for at in both}) for part in range(3))
    gain = {at: 100 * (1 - _mean(of[control]) / _mean(of[baseline])) for at, of in both.items()}
    most, nothing = max(1, *(abs(value) for value in gain.values())), float("nan")
    panels: list[Panel] = []
    for buffer in buffers:
        grid = [[gain.get((buffer, rtt, rate), nothing) for rate in rates] for rtt in rtts]
        x = Axis(labels=[f"{rate / 1e6:g}" for rate in rates])
        y = Axis("" if panels else "RTT (ms)", labels=[f"{1e3 * rtt:g}" for rtt in rtts])
        cells = Cells(grid, most, f"{control} faster\nthan {baseline} (%)")
        title = f"{median(shares[buffer]):.2g} BDP"
        panels.append(Panel(x, y, [], [cells], title))
    return Figure(panels, "rate (Mbps), a panel for each buffer", explained=True)


def exits(flows) -> Figure:
    """The window at the end of start-up over the BDP, a dot for each flow: early below 0.6, late
    above 1.1."""
    found: dict[str, list[float | None]] = defaultdict(list)
    for row in _rows(flows, "exit_window_over_bdp", known=False):
        found[row["alias"]].append(row["exit_window_over_bdp"])
    names = [*found]
    x = Axis("window at the exit (BDP)", log=True)
    panel = Panel(x, Axis(labels=names, downwards=True), names)
    for place, (name, all) in enumerate(found.items()):
        known = sorted(share for share in all if share)
        # Dots beside each other, so that equal ones are seen.
        spread = [place + 0.3 * ((k * 0.618) % 1 - 0.5) for k in range(len(known))]
        panel.marks.append(Dots(name, known, spread))
        never = len(all) - len(known)
        if never:
            text = f"{never} never left"
            panel.marks.append(Note(text, 1, place, at_y=True, align="right", small=True))
    panel.marks.append(Span(0.6, 1.1))
    panel.marks.append(Note("right", 0.81, 1.01, at_x=True))
    panel.marks.append(Note("early", 0.02, 1.01, align="left"))
    panel.marks.append(Note("late", 0.98, 1.01, align="right"))
    return Figure([panel], explained=True)


def harm(flows, alone, flow=0) -> Figure:
    """Packets dropped against the completion time of the other flows, means by control; the area
    is the harm to flow number `flow`: what it lost of the throughput that it has in `alone`."""
    solo = _mean(
        [row["throughput_bps"] for row in _rows(alone, "throughput_bps") if row["flow"] == flow]
    )
    of: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for row in _rows(flows, "completion_time_s", "bottleneck_drops", known=False):
        mine = of[row["alias"]]
        if row["flow"] == flow:
            mine["harm"].append(max(0.0, 1 - row["throughput_bps"] / solo))
            mine["drops"].append(row["bottleneck_drops"])
        elif row["completion_time_s"] is not None:
            mine["time"].append(row["completion_time_s"])
    # The flow that was there is part of every run's name.
    shared = set.intersection(*(set(alias.split(", ")) for alias in of)) if len(of) > 1 else set()
    title = "area and %: harm to the flow that was there"
    panel = Panel(Axis("completion time (s)"), Axis("drops (packets)"), [*of], title=title)
    for alias, mine in of.items():
        name = ", ".join(part for part in alias.split(", ") if part not in shared)
        if not mine["harm"] or not mine["time"]:
            continue
        harmed, text = _mean(mine["harm"]), f"{name} ({100 * _mean(mine['harm']):.0f} %)"
        panel.marks.append(Area(alias, _mean(mine["time"]), _mean(mine["drops"]), harmed, text))
    if not panel.marks:
        raise Error(f"no flow beside number {flow} was done; accepted: runs that are long enough")
    return Figure([panel], explained=True)


def together(*tables) -> list[dict[str, Any]]:
    """The rows of several tables of flows as one, for these figures."""
    return [row for table in tables for row in _all(table)]


def _all(table):
    if isinstance(table, Result):
        table = table.flows
    if isinstance(table, Table):
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


def _names(aliases):
    """The controls in the order in which they come."""
    return list(dict.fromkeys(aliases))


def _first(result, flow):
    """The rows of one flow, in the first run of each control."""
    seed = result.flows["seed"][0]
    return [row for row in result.flows.to_dicts() if (row["flow"], row["seed"]) == (flow, seed)]


def _series(result, flow) -> dict[tuple[str, str], tuple[list[float], list[Any]]]:
    """Times and values by control and variable: of one flow and of the first link, first run."""
    series = result.series
    found: dict[tuple[str, str], Any] = defaultdict(lambda: ([], []))
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
    found: dict[str, dict[float, list[float]]] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        found[row["alias"]][row[factor]].append(row["completion_time_s"])
    return {alias: {at: _mean(all) for at, all in of.items()} for alias, of in found.items()}
