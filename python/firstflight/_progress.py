"""A bar on standard error, for terminals and notebooks."""

from __future__ import annotations

import sys
import time

#: Characters of a bar.
WIDTH = 30


class Bar:
    """Draws the runs finished, and the time that the others will take at this pace."""

    def __init__(self) -> None:
        self.begun = time.monotonic()

    def __call__(self, done: int, total: int) -> None:
        left = (time.monotonic() - self.begun) * (total - done) / max(done, 1)
        filled = WIDTH * done // max(total, 1)
        bar = "#" * filled + "." * (WIDTH - filled)
        end = "\n" if done == total else ""
        sys.stderr.write(f"\r|{bar}| {done} of {total} runs, {left:.0f} s left {end}")
        sys.stderr.flush()


def told(progress):
    """What is called with the runs finished: True is a bar; None and False are nothing."""
    return Bar() if progress is True else progress or None
