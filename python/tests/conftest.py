"""What the tests share: short runs, and the command line of the same wheel."""

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def command():
    """Runs the command line that the wheel carries; a completed process with its texts."""

    def run(*words):
        line = [sys.executable, "-m", "firstflight", *words]
        return subprocess.run(line, capture_output=True, text=True, timeout=120, check=False)

    return run


@pytest.fixture(scope="session")
def gallery(tmp_path_factory):
    """The folder of the figures that `python/examples/gallery.py` draws."""
    pytest.importorskip("matplotlib")
    folder = tmp_path_factory.mktemp("gallery")
    script = [sys.executable, Path(__file__).parents[1] / "examples/gallery.py", folder]
    run = subprocess.run(script, capture_output=True, text=True, timeout=300, check=False)
    assert run.returncode == 0, run.stderr
    return folder
