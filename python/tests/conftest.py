"""What the tests share: short runs, and the command line of the same wheel."""

import subprocess
import sys

import pytest


@pytest.fixture(scope="session")
def command():
    """Runs the command line that the wheel carries; a completed process with its texts."""

    def run(*words):
        line = [sys.executable, "-m", "firstflight", *words]
        return subprocess.run(line, capture_output=True, text=True, timeout=120, check=False)

    return run
