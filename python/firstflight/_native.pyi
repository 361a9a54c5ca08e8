"""What the native half provides."""

import builtins
from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import Any, final

__version__: str

class Error(ValueError):
    """Wrong input: the message says what was found, and what is accepted."""

@final
class Table:
    """A table: one column per variable, the unit in its name; null is None."""

    columns: builtins.list[str]
    about: dict[str, tuple[str, str]]
    def __arrow_c_stream__(self, requested_schema: object = None) -> object: ...
    def __arrow_c_schema__(self) -> object: ...
    def __len__(self) -> int: ...
    def __getitem__(self, column: str) -> builtins.list[Any]: ...
    def to_dicts(self) -> builtins.list[dict[str, Any]]: ...
    def to_csv(self, path: str | PathLike[str]) -> None: ...
    def to_pandas(self) -> Any: ...
    def to_arrow(self) -> Any: ...
    def to_polars(self) -> Any: ...
    def _repr_html_(self) -> str: ...

class Result:
    """The runs of a scenario."""

    flows: Table
    series: Table
    unmet: builtins.list[str]
    def json(self) -> str: ...
    def summary(self, width: int = 100) -> str: ...
    def _repr_html_(self) -> str: ...

class Reproduction:
    """The claims of the papers, measured."""

    rows: builtins.list[dict[str, Any]]
    report: Path | None
    def json(self) -> str: ...
    def __len__(self) -> int: ...
    def _repr_html_(self) -> str: ...

@final
class View:
    """The connection as a start-up sees it; windows in packets, times in seconds."""

    now_s: float
    cwnd: float
    ssthresh: float
    mss_bytes: int
    acked: float
    rtt_s: float | None
    rtt_min_s: float | None
    srtt_s: float | None
    in_flight: float
    delivered: float
    sent: float
    round: int
    round_start: bool
    event: str

_Progress = Callable[[int, int], object] | None

def compare(
    controls: builtins.list[str],
    path: dict[str, Any],
    on: str,
    samples: int | None,
    progress: _Progress,
) -> Result: ...
def run(
    scenario: Any, path: dict[str, Any], on: str, samples: int | None, progress: _Progress
) -> Result: ...
def judge(
    control: str,
    lists: tuple[builtins.list[str], builtins.list[str]],
    seeds: int | None,
    quick: bool,
    on: str,
    progress: _Progress,
) -> str: ...
def predict(path: dict[str, Any]) -> str: ...
def list(name: str | None = None) -> str: ...
def reproduce(
    select: builtins.list[str], out: Any, cache: Any, quick: bool, progress: _Progress
) -> Reproduction: ...
def command(words: builtins.list[str]) -> int: ...
def path_flags() -> builtins.list[tuple[str, str, str]]: ...

@final
class Work:
    """A sweep and its folder, which is locked until it is closed."""

    path: Path
    table: Path
    def __init__(
        self,
        grid: str | PathLike[str] | None,
        text: str,
        out: str | PathLike[str] | None,
        format: str,
        on: str,
    ) -> None: ...
    def run(self, progress: _Progress) -> None: ...
    def recheck(self) -> builtins.list[Path]: ...
    def missing(self) -> builtins.list[tuple[int, int]]: ...
    def chunk(self, number: int) -> str: ...
    def named(self, number: int) -> str: ...
    def put(self, number: int, rows: bytes) -> None: ...
    def merge(self) -> int: ...
    def close(self) -> None: ...

def run_chunk(chunk: str) -> bytes: ...
def table_of(path: str | PathLike[str]) -> Table: ...
def put(name: str, summary: str, partner: str, template: object) -> None: ...
