"""Ten thousand points of 5 MB with four controls, killed and run on Dask: some minutes.

POINTS=2000 pytest -s -m slow python/tests/test_ten_thousand.py; without POINTS all of them.
"""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from sweeps import run_script, tables

pytestmark = pytest.mark.slow
FILE = Path(__file__).parents[2] / "scenarios" / "sweeps" / "short-transfers.toml"
#: What the sweep may take, MB.
MEMORY = 300


@pytest.fixture(scope="module")
def grid(tmp_path_factory):
    """The grid file, with as many points as are asked for."""
    file = tmp_path_factory.mktemp("grid") / FILE.name
    points = os.environ.get("POINTS", "10000")
    file.write_text(FILE.read_text().replace("points = 10000", f"points = {points}"))
    return file


def begin(grid, out):
    line = [sys.executable, "-m", "firstflight", "sweep", grid, "--out", out]
    return subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def ended(child):
    """Waits for a child: its exit code, CPU seconds, and most memory in MB."""
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    return child.returncode, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


@pytest.fixture(scope="module")
def undisturbed(grid, tmp_path_factory):
    """The folder of the whole sweep."""
    out = tmp_path_factory.mktemp("whole")
    begun = time.monotonic()
    code, cpu, memory = ended(begin(grid, out))
    wall = time.monotonic() - begun
    print(f"\ncommand: {wall:.0f} s, {cpu:.1f} s of CPU time, {memory:.0f} MB")
    assert code == 0 and memory < MEMORY
    return out


def finished(out):
    return len([*out.glob("chunks/*/*.csv")])


def test_three_kills_at_random_moments_leave_the_same_tables(grid, undisturbed, tmp_path):
    seed = random.randrange(10**6)
    moments, all = random.Random(seed), finished(undisturbed)
    # So many chunks are there, and the next ones are somewhere.
    for moment in sorted(moments.uniform(0.05, 0.85) for _ in range(3)):
        child = begin(grid, tmp_path)
        while finished(tmp_path) < moment * all and child.poll() is None:
            time.sleep(0.01)
        time.sleep(moments.uniform(0, 0.1))
        child.kill()
        child.wait()
        found = finished(tmp_path)
        print(f"seed {seed}: killed at {moment:.0%} with {found} of {all} chunks")
        assert child.returncode == -signal.SIGKILL
    code, cpu, memory = ended(begin(grid, tmp_path))
    print(f"the rest: {cpu:.1f} s of CPU time, {memory:.0f} MB")
    assert code == 0 and memory < MEMORY
    assert tables(tmp_path) == tables(undisturbed)


DASK = """
import os, random, resource, signal, sys, time
import firstflight as ff

grid, out = sys.argv[1:]

if __name__ == "__main__":
    import psutil
    from dask.distributed import Client, LocalCluster
    kind = dict(n_workers=2, threads_per_worker=1, dashboard_address=None, host="127.0.0.1")
    with LocalCluster(**kind) as cluster, Client(cluster) as client:
        pids = list(client.run(os.getpid).values())
        when, killed, most = random.uniform(0.1, 0.8), [], [0]
        def report(done, total):
            if not killed and done > when * total:
                os.kill(random.choice(pids), signal.SIGKILL)
                killed.append(round(100 * done / total))
            below = psutil.Process().children(recursive=True)
            most[0] = max([most[0]] + [memory(of) for of in below])
        def memory(process):
            try:
                return process.memory_info().rss / 2**20
            except psutil.NoSuchProcess:
                return 0
        begun = time.monotonic()
        ff.sweep(grid, out=out, client=client, progress=report)
        mine = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(killed[0], round(time.monotonic() - begun), round(mine), round(most[0]))
"""


def test_dask_with_a_killed_worker_leaves_the_same_tables(grid, undisturbed, tmp_path):
    pytest.importorskip("distributed")
    printed = run_script(DASK, tmp_path, grid, tmp_path / "out")
    killed, wall, memory, worker = map(int, printed.split())
    print(f"dask: {wall} s, a worker killed at {killed} %, {memory} MB, a worker {worker} MB")
    assert memory < MEMORY and worker < MEMORY
    assert tables(tmp_path / "out") == tables(undisturbed)


def test_a_sweep_from_python_has_the_commands_tables(grid, undisturbed, tmp_path):
    text = "import firstflight as ff, sys; ff.sweep(sys.argv[1], out=sys.argv[2])"
    for kind, out in (("csv", tmp_path / "csv"), ("parquet", tmp_path / "parquet")):
        more = text.replace("2])", f"2], format={kind!r})")
        child = subprocess.Popen([sys.executable, "-c", more, grid, out])
        begun = time.monotonic()
        code, cpu, memory = ended(child)
        wall = time.monotonic() - begun
        print(f"python, {kind}: {wall:.0f} s, {cpu:.1f} s of CPU time, {memory:.0f} MB")
        assert code == 0 and memory < MEMORY
    assert tables(tmp_path / "csv") == tables(undisturbed)
    summary = "summary.csv"
    assert (tmp_path / "parquet" / summary).read_bytes() == (undisturbed / summary).read_bytes()
