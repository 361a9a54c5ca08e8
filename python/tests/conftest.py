"""What the tests share: short runs, and the command line of the same wheel."""

import re
import subprocess
import sys
import threading
import time
from pathlib import Path

import firstflight as ff
import pytest
from sweeps import FILE


def without_cost(text):
    """The document of the command line without its only part that differs between equal runs."""
    return re.sub(r',\n      "cost": \{[^}]*\}', "", text)


@pytest.fixture(scope="session")
def command():
    """Runs the command line that the wheel carries; a completed process with its texts."""

    def run(*words):
        line = [sys.executable, "-m", "firstflight", *words]
        return subprocess.run(line, capture_output=True, text=True, timeout=120, check=False)

    return run


@pytest.fixture
def no_thread_left():
    """The test leaves as many threads as it finds, those of the engine included."""
    # Those over which runs are spread stay for good.
    ff.compare(["hoe", "astart"], duration="1s")
    before = threads()
    yield
    patience = time.monotonic() + 5
    while threads() > before and time.monotonic() < patience:
        time.sleep(0.01)
    assert threads() <= before


def threads():
    """How many threads the process has; elsewhere than on Linux how many Python knows."""
    tasks = Path("/proc/self/task")
    return len([*tasks.iterdir()]) if tasks.exists() else threading.active_count()


@pytest.fixture(scope="session")
def whole(tmp_path_factory, command):
    """The folder of the sweep as the command leaves it."""
    place = tmp_path_factory.mktemp("command")
    (place / "grid.toml").write_text(FILE)
    printed = command("sweep", str(place / "grid.toml"), "--out", str(place / "out"))
    assert printed.returncode == 0, printed.stderr
    return place / "out"
