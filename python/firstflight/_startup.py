"""Start-ups that are written in Python."""

from __future__ import annotations

import re
from typing import Any

from . import _native
from ._native import Error


class Step:
    """An answer that says more than the window. None leaves a value as it is.

    cwnd, ssthresh: packets. pacing_bps: the rate at which packets leave from now on, bit/s, for a
    start-up that `paces`. leave: start-up ends here, and the avoidance takes over.
    """

    __slots__ = ("cwnd", "leave", "pacing_bps", "ssthresh")

    def __init__(self, cwnd=None, *, ssthresh=None, pacing_bps=None, leave=False):
        self.cwnd, self.ssthresh = cwnd, ssthresh
        self.pacing_bps, self.leave = pacing_bps, leave

    def __repr__(self) -> str:
        values = ((name, getattr(self, name)) for name in ("cwnd", "ssthresh", "pacing_bps"))
        fields = [f"{name}={value}" for name, value in values if value is not None]
        return f"Step({', '.join([*fields, f'leave={self.leave}'])})"


def Leave(cwnd=None, *, ssthresh=None) -> Step:
    """The answer that ends start-up; packets."""
    return Step(cwnd, ssthresh=ssthresh, leave=True)


class Startup:
    """A start-up of your own. Subclass it, and pass the class, or an object of it, as a control:

        class Half(ff.Startup):
            def on_ack(self, view):
                if view.srtt_s > 1.5 * view.rtt_min_s:
                    return ff.Leave(ssthresh=view.cwnd)
                return view.cwnd + view.acked

        ff.compare([Half, "hystart"], rtt="50ms")

    Each flow has a copy of the object, so that what is kept in `self` is the flow's. The result
    is the same on every run as long as no method looks at a clock or draws at random.
    """

    name: str | None = None
    """How results call it; without it the name of the class in lower case with hyphens."""
    partner: str = "cubic"
    """The avoidance that follows it."""
    summary: str = "a start-up in Python"
    """What it does, in one line."""
    growth: int = 2
    """By what factor it grows a window per round: the flight justifies no more than that."""
    paces: bool = False
    """Whether it sets `Step.pacing_bps`."""

    def begin(self, view) -> Any:
        """The first data is about to leave: the window to begin with; None for the profile's."""
        return None

    def on_ack(self, view) -> Any:
        """New data was acknowledged, outside of a recovery: the new cwnd in packets, None to keep
        it, a `Step`, or `Leave(...)`."""
        raise NotImplementedError("a start-up defines on_ack(self, view)")

    def on_loss(self, view) -> str | None:
        """A loss, by `view.event`: None to leave, as in RFC 5681; "ignore" to repair and go on."""
        return None


def _hyphenated(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|_", "-", name).lower().strip("-")


def register(startup) -> str:
    """Gives a start-up its name for the rest of the program, for scenario files; returns it.

    The last one of a name has it, so that two threads use two names.
    """
    made = startup
    if isinstance(startup, type):
        if not issubclass(startup, Startup):
            raise Error(f"control {startup!r}: accepted: a name, or a subclass of Startup")
        made = _made(startup)
    name = made.name or _hyphenated(type(made).__name__)
    if not isinstance(name, str):
        raise Error(f"start-up {startup!r}: name = {name!r}; accepted: a text")
    _native.put(name, str(made.summary), str(made.partner), made)
    return name


def _made(startup):
    try:
        return startup()
    except Exception as problem:
        kind = type(problem).__name__
        message = f"start-up {startup.__name__}: its constructor raised {kind}: {problem}"
        raise Error(message) from problem


def _control(control):
    is_class = isinstance(control, type) and issubclass(control, Startup)
    return register(control) if is_class or isinstance(control, Startup) else control


def named(controls) -> list[str]:
    """Controls as names; start-ups in Python get theirs."""
    if isinstance(controls, (str, Startup, type)):
        controls = [controls]
    names, seen = [], {}
    for control in controls:
        name = _control(control)
        if not isinstance(name, str):
            raise Error(f"control {control!r}: accepted: a name, or a subclass of Startup")
        if name is not control and seen.setdefault(name, control) is not control:
            raise Error(f"two start-ups are called {name!r}; accepted: a `name` for each")
        names.append(name)
    return names


def plain(tree):
    """A scenario whose controls are names."""
    if isinstance(tree, dict):
        return {key: plain(value) for key, value in tree.items()}
    if isinstance(tree, tuple):
        # A number with its unit, or a list.
        return tuple(plain(value) for value in tree)
    if isinstance(tree, list):
        return [plain(value) for value in tree]
    return _control(tree)
