"""A sweep that the tests share, and what they look at."""

import subprocess
import sys
import textwrap
import threading
from concurrent.futures import Executor, ThreadPoolExecutor
from pathlib import Path

TABLES = ["flows.csv", "points.csv", "summary.csv"]
#: 36 points of two controls and two seeds: some twenty chunks.
GRID = {
    "scenario": {
        "controls": ["newreno", "astart"],
        "duration": "10s",
        "runs": 2,
        "flow": [{"size": "100MB"}],
    },
    "grid": {
        "path.rate": ["10Mbps", "40Mbps", "200Mbps"],
        "path.rtt": ["20ms", "50ms", "100ms", "300ms"],
        "path": {"loss": ["0%", "0.1%", "1%"]},
    },
}
FILE = """
[scenario]
controls = ["newreno", "astart"]
duration = "10s"
runs = 2
flow = [{ size = "100MB" }]
[grid]
"path.rate" = ["10Mbps", "40Mbps", "200Mbps"]
"path.rtt" = ["20ms", "50ms", "100ms", "300ms"]
"path.loss" = ["0%", "0.1%", "1%"]
"""


def tables(folder):
    return [(Path(folder) / name).read_bytes() for name in TABLES]


def chunks(folder):
    return {file.name for file in Path(folder).glob("chunks/*/*.csv")}


class Counting(Executor):
    """Counts what is under way, and fails at the fifth chunk."""

    _max_workers = 3

    def __init__(self):
        self.pool, self.lock = ThreadPoolExecutor(1), threading.Lock()
        self.under_way = self.most = self.ran = 0

    def submit(self, work, *arguments):
        with self.lock:
            self.under_way += 1
            self.most = max(self.most, self.under_way)
        return self.pool.submit(self.go, work, *arguments)

    def go(self, work, *arguments):
        self.ran += 1
        if self.ran == 5:
            raise OSError("no room")
        rows = work(*arguments)
        with self.lock:
            self.under_way -= 1
        return rows


def run_script(text, tmp_path, *words):
    """Runs a script of its own: its functions go to Dask's workers by value."""
    script = tmp_path / "script.py"
    script.write_text(textwrap.dedent(text))
    line = [sys.executable, script, *map(str, words)]
    done = subprocess.run(line, capture_output=True, text=True, timeout=500, cwd=tmp_path)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout
