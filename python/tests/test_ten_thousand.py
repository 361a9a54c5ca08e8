"""Ten thousand points of 5 MB with four controls, killed and run on Dask: some minutes.

pytest -s -m slow python/tests/test_ten_thousand.py
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
GRID = Path(__file__).parents[2] / "scenarios" / "sweeps" / "short-transfers.toml"
#: What the sweep may take, MB.
MEMORY = 300


def begin(out):
    line = [sys.executable, "-m", "firstflight", "sweep", GRID, "--out", out]
    return subprocess.Popen(line, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def ended(child):
    """Waits for a child: its exit code, CPU seconds, and most memory in MB."""
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    return child.returncode, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """The folder of the whole sweep, and how long it took."""
    out = tmp_path_factory.mktemp("whole")
    begun = time.monotonic()
    code, cpu, memory = ended(begin(out))
    wall = time.monotonic() - begun
    print(f"\ncommand: {wall:.0f} s, {cpu:.0f} s of CPU time, {memory:.0f} MB")
    assert code == 0 and memory < MEMORY
    return out, wall


def test_three_kills_at_random_moments_leave_the_same_tables(undisturbed, tmp_path):
    whole, wall = undisturbed
    seed = random.randrange(10**6)
    moments = random.Random(seed)
    for kill in range(3):
        child = begin(tmp_path)
        time.sleep(moments.uniform(0.05, 0.3) * wall)
        child.send_signal(signal.SIGKILL)
        code, cpu, memory = ended(child)
        found = len([*tmp_path.glob("chunks/*/*.csv")])
        print(f"seed {seed}, kill {kill + 1}: {found} chunks, {cpu:.0f} s, {memory:.0f} MB")
        assert code == -signal.SIGKILL
    code, cpu, memory = ended(begin(tmp_path))
    print(f"the rest: {cpu:.0f} s of CPU time, {memory:.0f} MB")
    assert code == 0 and memory < MEMORY
    assert tables(tmp_path) == tables(whole)


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
        def told(done, total):
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
        ff.sweep(grid, out=out, client=client, progress=told)
        mine = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(killed[0], round(time.monotonic() - begun), round(mine), round(most[0]))
"""


def test_dask_with_a_killed_worker_leaves_the_same_tables(undisturbed, tmp_path):
    pytest.importorskip("distributed")
    printed = run_script(DASK, tmp_path, GRID, tmp_path / "out")
    killed, wall, memory, worker = map(int, printed.split())
    print(f"dask: {wall} s, a worker killed at {killed} %, {memory} MB, a worker {worker} MB")
    assert memory < MEMORY and worker < MEMORY
    assert tables(tmp_path / "out") == tables(undisturbed[0])


def test_a_sweep_from_python_has_the_tables_and_the_memory_of_the_commands(undisturbed, tmp_path):
    text = "import firstflight as ff, sys; ff.sweep(sys.argv[1], out=sys.argv[2])"
    for kind, out in (("csv", tmp_path / "csv"), ("parquet", tmp_path / "parquet")):
        more = text.replace("2])", f"2], format={kind!r})")
        child = subprocess.Popen([sys.executable, "-c", more, GRID, out])
        begun = time.monotonic()
        code, cpu, memory = ended(child)
        wall = time.monotonic() - begun
        print(f"python, {kind}: {wall:.0f} s, {cpu:.0f} s of CPU time, {memory:.0f} MB")
        assert code == 0 and memory < MEMORY
    assert tables(tmp_path / "csv") == tables(undisturbed[0])
    summary = "summary.csv"
    assert (tmp_path / "parquet" / summary).read_bytes() == (undisturbed[0] / summary).read_bytes()
