"""A bar on standard error, for terminals and notebooks."""

from __future__ import annotations

import sys
import time

#: Characters of a bar.
WIDTH = 30


class Bar:
    """Draws the work that is done, and the time that the rest will take at this pace."""

    def __init__(self, what: str = "{} of {} runs") -> None:
        self.what = what
        self.begun = time.monotonic()

    def __call__(self, done: int, total: int) -> None:
        left = (time.monotonic() - self.begun) * (total - done) / max(done, 1)
        filled = WIDTH * done // max(total, 1)
        bar = "#" * filled + "." * (WIDTH - filled)
        end = "\n" if done == total else ""
        what = self.what.format(done, total, done * 100 // max(total, 1))
        sys.stderr.write(f"\r|{bar}| {what}, {left:.0f} s left {end}")
        sys.stderr.flush()


def callback(progress, *what):
    """The function that gets the progress: a bar for True, none for None and False."""
    return Bar(*what) if progress is True else progress or None
