"""Congestion-control start-up: simulate, compare, predict, reproduce the papers.

    import firstflight as ff
    result = ff.compare(["hystart", "rapid-start"], rate="40Mbps", rtt="100ms", size="5MB")
    result.flows          # a table: one row per flow; pandas, polars and DuckDB take it as it is
    result.series         # cwnd, RTT, queue and more over time
    print(result)         # what the command prints

Quantities are texts with units, as on the command line: "40Mbps", "100ms", "0.25bdp", "5MB"; or
numbers with a unit: (40, "Mbps").
"""

from __future__ import annotations

import json
import os
from typing import Any

from . import _native
from ._native import Error, Reproduction, Result, Table, View
from ._progress import callback as _callback
from ._startup import Leave, Startup, Step, register
from ._startup import named as _named
from ._startup import plain as _plain
from ._sweep import Sweep, sweep

__version__ = _native.__version__
__all__ = [
    "Error",
    "Leave",
    "Reproduction",
    "Result",
    "Startup",
    "Step",
    "Sweep",
    "Table",
    "View",
    "advise",
    "compare",
    "judge",
    "list",
    "predict",
    "register",
    "reproduce",
    "run",
    "sweep",
]

_list = list


def compare(controls=(), *, on="sim", samples=None, progress=None, **path):
    """Runs several controls on one path, side by side, like `firstflight compare`.

    controls: names such as "astart" or "hystart+cubic(beta=0.7)", or start-ups of your own
        (`Startup`); without any the command's five.
    on: "sim", the simulator's TCP; or "quic" or "noq", quinn's or noq's stack in its time.
    samples: about so many samples over time for `.series`, kept at once; without it `.series`
        runs the scenario again, with 2000, when it is first asked for.
    progress: True draws a bar; a function is called now and then with the runs finished and all.
    path: the path flags of the command, each with a unit:
    """
    return _native.compare(_named(controls), path, on, samples, _callback(progress))


def run(scenario, *, on="sim", samples=None, progress=None, **path):
    """Runs a scenario: the path of a TOML file, or a dict of its keys, like `firstflight run`.

    A path flag replaces the scenario's own value. What the scenario expects and does not hold is
    in `.unmet`. The other arguments are those of `compare`; path flags, each with a unit:
    """
    scenario = _plain(scenario) if isinstance(scenario, dict) else os.fspath(scenario)
    return _native.run(scenario, path, on, samples, _callback(progress))


def judge(
    control, *, against=(), only=(), seeds=None, quick=False, on="sim", progress=None
) -> dict[str, Any]:
    """Judges a control on the catalogue of paths, like `firstflight judge --json`.

    control: a name such as "hystart", or a start-up of your own (`Startup`).
    against: further references. only: groups ("F") or scenarios ("wifi", "A3").
    seeds: where something is random; without it the catalogue's 20. quick: three, and no long
        transfers. on: "sim", "quic" or "noq".

    Nothing is kept between calls. The verdicts are in `["scenarios"][0]["verdicts"]`, "pass",
    "fail" or "n/a" for each of R1 to R5, and in sum in `["summary"]`.
    """
    names, against = _named([control]), _named(against)
    only = [only] if isinstance(only, str) else [str(one) for one in only]
    lists = (against, only)
    return json.loads(_native.judge(names[0], lists, seeds, bool(quick), on, _callback(progress)))


def advise(*, on="linux", shared=False, progress=None, **path) -> dict[str, Any]:
    """Which control to take on a path, like `firstflight advise --json`.

    on: who sends, "linux", "quinn", or "quic" for another stack. shared: others are there too.
    path: rate and rtt, and what else is known of size, loss, buffer and jitter.

    The answer is in `["sentences"]`, the control in `["take"][0]["control"]`.
    """
    return json.loads(_native.advise(path, on, bool(shared), _callback(progress)))


def predict(**path) -> dict[str, Any]:
    """What the closed-form model of slow start says of a path, like `firstflight predict`.

    Windows are in packets. Path flags, each with a unit:
    """
    return json.loads(_native.predict(path))


def reproduce(*select, out=None, cache=None, quick=False, progress=None):
    """Measures claims of the papers, like `firstflight reproduce`; all of them if none is named.

    select: papers ("astart"), figures and tables ("table1"), claims ("S0-T1a").
    out: a folder for the report. cache: a folder for finished runs, to go on from.
    quick: one seed per run instead of several.
    """
    select = [str(one) for one in select]
    return _native.reproduce(select, out, cache, bool(quick), _callback(progress))


def list(name=None) -> dict[str, Any]:
    """Everything that has a name, or all about one, like `firstflight list --json`."""
    return json.loads(_native.list(name))


def __getattr__(name: str) -> Any:
    """`ff.plots`, `ff.charts` and `ff.widget` are imported when they are first used."""
    if name in ("plots", "charts", "widget"):
        import importlib

        return importlib.import_module(f".{name}", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _document() -> None:
    """The path flags stand in one table, the command's."""
    flags = "".join(
        f'\n        {name} = "{default}": {about}' for name, default, about in _native.path_flags()
    )
    for call in (compare, run, predict):
        call.__doc__ = f"{(call.__doc__ or '').rstrip()}\n{flags}\n"


_document()


def _html(self) -> str:
    from ._notebook import html

    return html(self)


def _rows(self) -> _list[dict[str, Any]]:
    """The claims as dicts: id, paper, what, expected, measured, verdict and more."""
    return json.loads(self.json())["rows"]


for _class in (Result, Table, Reproduction, Sweep):
    _class._repr_html_ = _html
Reproduction.rows = property(_rows)
