"""How results show themselves in a notebook."""

from __future__ import annotations

from html import escape

from ._native import Reproduction, Result

#: Columns of the table of flows: heading, unit, factor.
SHOWN = {
    "alias": ("control", "", None),
    "seed": ("seed", "", None),
    "flow": ("flow", "", None),
    "throughput_bps": ("throughput", "Mbps", 1e6),
    "completion_time_s": ("completion", "s", 1),
    "exit_reason": ("exit", "", None),
    "exit_window_over_bdp": ("exit window", "BDP", 1),
    "retransmitted_packets": ("sent again", "packets", None),
    "timeouts": ("timeouts", "", None),
    "bottleneck_drops": ("drops", "packets", None),
}
#: Of more rows than this only the number is shown.
MOST_ROWS = 50


def html(shown) -> str:
    """A table of what a result, a table of it, a reproduction or a sweep has."""
    if isinstance(shown, Result):
        rows = shown.flows.to_dicts()
        heads = [f"{head} ({unit})" if unit else head for head, unit, _ in SHOWN.values()]
        cells = [[_cell(row[name], unit[2]) for name, unit in SHOWN.items()] for row in rows]
    elif isinstance(shown, Reproduction):
        heads = ["id", "paper", "what", "expected", "measured", "verdict"]
        cells = [[_cell(row.get(head), None) for head in heads] for row in shown.rows]
    else:
        shown = getattr(shown, "summary", shown)
        heads = shown.columns
        cells = [[_cell(row[head], None) for head in heads] for row in shown.to_dicts()]
    return _table(heads, cells)


def _cell(value, factor) -> str:
    if value is None:
        return ""
    if factor is None:
        return escape(f"{value:.6g}" if isinstance(value, float) else str(value))
    return f"{value / factor:.4g}"


def _table(heads, rows) -> str:
    head = "".join(f"<th>{escape(name)}</th>" for name in heads)
    body = "".join(
        f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows[:MOST_ROWS]
    )
    left = len(rows) - MOST_ROWS
    more = f"<p>and {left} more rows</p>" if left > 0 else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"
