"""Congestion-control start-up: simulate, compare, predict, reproduce the papers."""

from collections.abc import Callable, Iterable
from os import PathLike
from typing import Any, TypedDict

from typing_extensions import Unpack

from . import charts as charts
from . import plots as plots
from ._native import Error as Error
from ._native import Reproduction as Reproduction
from ._native import Result as Result
from ._native import Table as Table
from ._native import View as View
from ._startup import Leave as Leave
from ._startup import Startup as Startup
from ._startup import Step as Step
from ._startup import register as register
from ._sweep import Sweep as Sweep
from ._sweep import sweep as sweep

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
__version__: str

_Quantity = str | tuple[float, str]

class Path(TypedDict, total=False):
    """The path flags of the command; quantities are texts with units, or pairs of both."""

    rate: _Quantity
    rtt: _Quantity
    buffer: _Quantity
    packet: _Quantity
    headers: _Quantity
    access_delay: _Quantity
    access_rate: _Quantity
    loss: _Quantity
    ecn_threshold: _Quantity
    queue: _Quantity
    jitter: _Quantity
    wifi: _Quantity
    duration: _Quantity
    flows: int | str
    size: _Quantity
    start_jitter: _Quantity
    seed: int | str
    runs: int | str
    profile: str
    ns2_release: str
    iw: _Quantity
    ssthresh: _Quantity
    receiver_window: _Quantity
    send_buffer: _Quantity
    recovery: str
    delayed_ack: int | str
    acks_per_rtt: int | str
    duplicate_acks: int | str
    split_acks: int | str
    syn: bool | str
    fast_open: str
    handshake_ack: bool | str
    fin: bool | str
    wake_up: bool | str
    timer: str
    rto_initial: _Quantity
    rto_min: _Quantity
    rto_max: _Quantity
    rto_granularity: _Quantity
    receiver: str
    delayed_ack_timer: _Quantity
    limited_transmit: bool | str
    impatient: bool | str
    partial_deflation: bool | str
    progress_ends_backoff: bool | str
    ack_compression: bool | str
    linux_release: str
    quick_acks: bool | str
    ack_size: _Quantity
    growth_limit: bool | str
    segment_per_ack: bool | str
    ecn: bool | str
    ecn_feedback: str
    slow_start_after_idle: bool | str
    pacing: bool | str
    pacer: str
    tso: bool | str
    buffer_counts_in_service: bool | str

_Control = str | Startup | type[Startup]
_Progress = bool | Callable[[int, int], object] | None

def compare(
    controls: _Control | Iterable[_Control] = (),
    *,
    on: str = "sim",
    samples: int | None = None,
    progress: _Progress = None,
    **path: Unpack[Path],
) -> Result: ...
def run(
    scenario: str | PathLike[str] | dict[str, Any],
    *,
    on: str = "sim",
    samples: int | None = None,
    progress: _Progress = None,
    **path: Unpack[Path],
) -> Result: ...
def judge(
    control: _Control,
    *,
    against: _Control | Iterable[_Control] = (),
    only: str | Iterable[str] = (),
    seeds: int | None = None,
    quick: bool = False,
    on: str = "sim",
    progress: _Progress = None,
) -> dict[str, Any]: ...
def advise(
    *,
    rate: _Quantity,
    rtt: _Quantity,
    size: _Quantity = ...,
    loss: _Quantity = ...,
    buffer: _Quantity = ...,
    jitter: _Quantity = ...,
    on: str = "linux",
    shared: bool = False,
    progress: _Progress = None,
) -> dict[str, Any]: ...
def predict(**path: Unpack[Path]) -> dict[str, Any]: ...
def reproduce(
    *select: str,
    out: str | PathLike[str] | None = None,
    cache: str | PathLike[str] | None = None,
    quick: bool = False,
    progress: _Progress = None,
) -> Reproduction: ...
def list(name: str | None = None) -> dict[str, Any]: ...
