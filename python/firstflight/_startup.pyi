"""Start-ups that are written in Python."""

from typing import Any

from ._native import View

class Step:
    """An answer that says more than the window; windows in packets."""

    cwnd: float | None
    ssthresh: float | None
    pacing_bps: float | None
    leave: bool
    def __init__(
        self,
        cwnd: float | None = None,
        *,
        ssthresh: float | None = None,
        pacing_bps: float | None = None,
        leave: bool = False,
    ) -> None: ...

def Leave(cwnd: float | None = None, *, ssthresh: float | None = None) -> Step: ...

class Startup:
    """A start-up of your own: a subclass that defines `on_ack`."""

    name: str | None
    partner: str
    summary: str
    growth: int
    paces: bool
    def begin(self, view: View) -> float | Step | None: ...
    def on_ack(self, view: View) -> float | Step | None: ...
    def on_loss(self, view: View) -> str | None: ...

def register(startup: Startup | type[Startup]) -> str: ...
def named(controls: Any) -> list[str]: ...
def plain(tree: Any) -> Any: ...
