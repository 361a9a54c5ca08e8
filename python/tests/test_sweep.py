"""Sweeps: on this machine, on executors, and on a real Dask cluster, with workers that die."""

import json
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import firstflight as ff
import pytest
from conftest import without_cost
from firstflight import _sweep
from sweeps import FILE, GRID, Counting, chunks, run_script, tables


def test_it_leaves_the_bytes_of_the_command(whole, tmp_path):
    reports = []
    result = ff.sweep(GRID, out=tmp_path / "dict", progress=lambda *all: reports.append(all))
    assert tables(result.path) == tables(whole) and chunks(result.path) == chunks(whole)
    assert reports[-1][0] == reports[-1][1] > 0
    (tmp_path / "grid.toml").write_text(FILE)
    again = ff.sweep(tmp_path / "grid.toml", out=tmp_path / "dict")
    pairs = {**GRID["grid"], "path.rtt": [(ms, "ms") for ms in (20, 50, 100, 300)]}
    assert len(ff.sweep({**GRID, "grid": pairs}, out=tmp_path / "dict")) == 36
    assert again.path == result.path == tmp_path / "dict" and len(again) == 36


def test_its_tables_are_tables(whole, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = ff.sweep(GRID)
    assert result.path.parent == Path("firstflight-out/sweep")
    assert (len(result.flows), len(result.points), len(result.summary)) == (144, 36, 72)
    assert result.flows["point"][::4] == result.points["point"]
    assert result.points["number"] == list(range(36))
    assert result.points["path.rtt"][:3] == ["20ms", "50ms", "100ms"]
    row = result.summary.to_dicts()[0]
    first = [of for of in result.flows.to_dicts()[:4] if of["alias"] == "newreno"]
    mean = sum(of["throughput_bps"] for of in first) / 2
    assert row["alias"] == "newreno" and row["seeds"] == 2
    assert row["throughput_bps"] == pytest.approx(mean)
    assert "throughput_bps" in result._repr_html_() and "36 points" in repr(result)
    polars = pytest.importorskip("polars")
    assert polars.DataFrame(result.summary)["seeds"].to_list() == [2] * 72


@pytest.mark.parametrize("kind", ["fork", "spawn", "thread"])
def test_an_executor_leaves_the_same_bytes(kind, whole, tmp_path):
    reports = []
    with (
        ThreadPoolExecutor(2)
        if kind == "thread"
        else ProcessPoolExecutor(2, mp_context=get_context(kind))
    ) as executor:
        ff.sweep(GRID, out=tmp_path, executor=executor, progress=lambda *all: reports.append(all))
    assert tables(tmp_path) == tables(whole)
    assert len(reports) == len(chunks(whole)) and reports[-1][0] == reports[-1][1]


def test_few_chunks_are_under_way_and_what_is_finished_is_kept_and_not_run_again(tmp_path):
    executor = Counting()
    with pytest.raises(ff.Error, match=r"chunk \w{32} \(.*path\.rate = .*\): OSError: no room"):
        ff.sweep(GRID, out=tmp_path, executor=executor)
    assert 1 < executor.most <= 3 * _sweep.AHEAD
    executor.pool.shutdown()
    kept = chunks(tmp_path)
    assert len(kept) >= 4
    with ThreadPoolExecutor(1) as again:
        reports = []
        ff.sweep(GRID, out=tmp_path, executor=again, progress=lambda *all: reports.append(all))
    assert len(reports) == len(chunks(tmp_path)) - len(kept)


def dies_once(chunk):
    """Kills its process at the first chunk that comes after some others."""
    flag = os.environ["DIES"]
    if os.path.exists(f"{flag}-ran"):
        try:
            os.close(os.open(flag, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            pass
        else:
            os.kill(os.getpid(), signal.SIGKILL)
    rows = ff._native.run_chunk(chunk)
    open(f"{flag}-ran", "w").close()
    return rows


def dies_at_one(chunk):
    """Kills its process at the chunks of one path."""
    points = json.loads(chunk)["points"]
    if any("200Mbps" in point and "300ms" in point for point in points):
        os.kill(os.getpid(), signal.SIGKILL)
    return ff._native.run_chunk(chunk)


def test_a_killed_worker_of_a_pool_loses_nothing(whole, tmp_path, monkeypatch):
    monkeypatch.setenv("DIES", str(tmp_path / "flag"))
    monkeypatch.setattr(_sweep, "run_chunk", dies_once)
    with ProcessPoolExecutor(2, mp_context=get_context("fork")) as executor:
        ff.sweep(GRID, out=tmp_path / "out", executor=executor)
    assert (tmp_path / "flag").exists()
    assert tables(tmp_path / "out") == tables(whole)


def test_a_chunk_that_always_kills_its_worker_is_named(whole, tmp_path, monkeypatch):
    with monkeypatch.context() as patch, ProcessPoolExecutor(2, get_context("fork")) as executor:
        patch.setattr(_sweep, "run_chunk", dies_at_one)
        message = r"chunk \w{32} \(\d+ points from .*path\.rate = 200Mbps.*BrokenProcessPool"
        with pytest.raises(ff.Error, match=message):
            ff.sweep(GRID, out=tmp_path, executor=executor)
    kept = chunks(tmp_path)
    assert 0 < len(kept) < len(chunks(whole))
    ff.sweep(GRID, out=tmp_path)
    assert tables(tmp_path) == tables(whole)


DASK = """
import json, os, signal, sys
import firstflight as ff
from firstflight import _sweep

grid, one, two = json.loads(sys.argv[1]), sys.argv[2], sys.argv[3]

def dies_at_one(chunk):
    import json, os, signal
    from firstflight import _native
    points = json.loads(chunk)["points"]
    if any("200Mbps" in point and "300ms" in point for point in points):
        os.kill(os.getpid(), signal.SIGKILL)
    return _native.run_chunk(chunk)

if __name__ == "__main__":
    import dask
    from dask.distributed import Client, LocalCluster
    dask.config.set({"distributed.scheduler.allowed-failures": 1})
    kind = dict(n_workers=2, threads_per_worker=1, dashboard_address=None, host="127.0.0.1")
    with LocalCluster(**kind) as cluster, Client(cluster) as client:
        pids = list(client.run(os.getpid).values())
        killed = []
        def kill(done, total):
            if not killed and done * 4 > total:
                os.kill(pids[0], signal.SIGKILL)
                killed.append(done < total)
        # In a worker, as a notebook would ask for it.
        call = lambda: ff.compare(["hystart", "astart"], size="500kB", duration="5s").json()
        print(json.dumps(client.submit(call).result()))
        ff.sweep(grid, out=one, client=client, progress=kill)
        print("killed", killed, len(set(pids)))
        _sweep.run_chunk = dies_at_one
        try:
            ff.sweep(grid, out=two, client=client)
        except ff.Error as error:
            print("error", error)
"""


def test_dask_survives_a_killed_worker_and_names_a_chunk_that_kills(whole, tmp_path, command):
    pytest.importorskip("distributed")
    one, two = tmp_path / "one", tmp_path / "two"
    printed = run_script(DASK, tmp_path, json.dumps(GRID), one, two).splitlines()
    # The same bytes from a Dask worker, from this process and from the command.
    in_worker = json.loads(printed.pop(0))
    assert in_worker == ff.compare(["hystart", "astart"], size="500kB", duration="5s").json()
    words = ("compare", "hystart", "astart", "--size", "500kB", "--duration", "5s", "--json")
    assert in_worker == without_cost(command(*words).stdout)
    assert printed[0] == "killed [True] 2"
    assert tables(one) == tables(whole)
    assert printed[1].startswith("error sweep: chunk ") and "KilledWorker" in printed[1]
    assert 0 < len(chunks(two)) < len(chunks(whole))
    ff.sweep(GRID, out=two)
    assert tables(two) == tables(whole)


INTERRUPTED = """
import json, sys, threading
import firstflight as ff
from concurrent.futures import ThreadPoolExecutor
grid = json.loads(sys.argv[1])
grid["scenario"]["runs"] = 50
with ThreadPoolExecutor(2) as pool:
    executor = pool if sys.argv[3] == "pool" else None
    def report(done, total):
        print("done", flush=True)
    try:
        ff.sweep(grid, out=sys.argv[2], executor=executor, progress=report)
    except KeyboardInterrupt:
        pool.shutdown()
        print("heard", threading.active_count(), flush=True)
"""


@pytest.mark.parametrize("on", ["cores", "pool"])
def test_ctrl_c_keeps_what_is_finished_and_leaves_no_thread(on, tmp_path):
    script = tmp_path / "script.py"
    script.write_text(INTERRUPTED)
    line = [sys.executable, script, json.dumps(GRID), str(tmp_path / "out"), on]
    child = subprocess.Popen(line, stdout=subprocess.PIPE, text=True)
    assert child.stdout.readline() == "done\n"
    begun = time.monotonic()
    child.send_signal(signal.SIGINT)
    assert child.communicate(timeout=120)[0].splitlines()[-1] == "heard 1"
    assert time.monotonic() - begun < 60
    assert chunks(tmp_path / "out") and not (tmp_path / "out" / "flows.csv").exists()


class Mine(ff.Startup):
    def on_ack(self, view):
        return view.cwnd + view.acked


def varied(key, value):
    """The grid with another value at a dotted key; None removes it."""
    grid = json.loads(json.dumps(GRID))
    *above, last = key.split("/")
    at = grid
    for name in above:
        at = at[name]
    at[last] = value
    return grid


@pytest.mark.parametrize(
    ("grid", "message"),
    [
        (varied("grids", {}), "grids: unknown key.*accepted: scenario, grid"),
        (varied("grid/path.rte", ["1Mbps"]), "did you mean `path.rate`|path.rte"),
        (varied("grid/path.rtt", ["10"]), "path.rtt"),
        (varied("grid/path.rtt", [float("nan")]), "path.rtt"),
        (varied("scenario/controls", ["astrt"]), "did you mean `astart`"),
        (varied("scenario/controls", [object()]), r"scenario\.controls.*found <object"),
        ({}, "grid: the file is empty"),
        ({"grid": GRID["grid"]}, "scenario: is missing"),
        ("/nowhere.toml", "/nowhere.toml: no such file; accepted: a grid file"),
    ],
)
def test_a_wrong_grid_is_an_error_that_names_it(grid, message, tmp_path, no_thread_left):
    with pytest.raises(ff.Error, match=message):
        ff.sweep(grid, out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_wrong_key_has_the_commands_message(command, tmp_path):
    (tmp_path / "grid.toml").write_text(FILE + '"path.rte" = ["1Mbps"]\n')
    with pytest.raises(ff.Error) as caught:
        ff.sweep(tmp_path / "grid.toml", out=tmp_path / "out")
    printed = command("sweep", str(tmp_path / "grid.toml"), "--out", str(tmp_path / "out"))
    assert printed.returncode == 2
    assert f"firstflight: {caught.value}" == printed.stderr.strip()


def test_start_ups_in_python_are_refused(tmp_path):
    for controls in ([Mine], ["hoe", ff.register(Mine)]):
        with pytest.raises(ff.Error, match=r"written in Python.*accepted: ff\.run"):
            ff.sweep(varied("scenario/controls", controls), out=tmp_path)
    own = {"duration": "1s", "flow": [{"control": "hoe"}]}
    flows = {"scenario": own, "grid": {"flow[0].control": ["hoe", "mine+cubic"]}}
    with pytest.raises(ff.Error, match=r"mine.* written in Python"):
        ff.sweep(flows, out=tmp_path)


def test_two_sweeps_in_one_folder_are_refused(whole, tmp_path):
    def second(*_):
        ff.sweep(GRID, out=tmp_path)

    with pytest.raises(ff.Error, match="another program runs this sweep here now"):
        ff.sweep(GRID, out=tmp_path, progress=second)
    # The first has ended with that, and its folder is free.
    assert tables(ff.sweep(GRID, out=tmp_path).path) == tables(whole)
    with pytest.raises(ff.Error, match="another sweep"):
        ff.sweep(varied("scenario/runs", 1), out=tmp_path)


def test_quic_is_swept_where_the_scenario_says_so(tmp_path):
    grid = {
        "scenario": {
            "controls": ["newreno", "hystart"],
            "duration": "5s",
            "flow": [{"size": "200kB"}],
        },
        "grid": {"flow[0].transport": ["tcp", "quic"], "path.rtt": ["20ms", "60ms"]},
    }
    result = ff.sweep(grid, out=tmp_path / "one")
    assert result.flows["transport"] == ["sim"] * 4 + ["quic"] * 4
    assert result.flows["point"][::2] == result.points["point"]
    alone = {**grid["scenario"], "flow": [{"size": "200kB", "transport": "quic"}]}
    rows = ff.run({**alone, "path": {"rtt": "20ms"}}, on="quic").flows.to_dicts()
    assert result.flows.to_dicts()[4:6] == rows
    with ThreadPoolExecutor(2) as pool:
        ff.sweep(grid, out=tmp_path / "two", executor=pool)
    assert tables(tmp_path / "one") == tables(tmp_path / "two")
    grid["scenario"]["controls"] = ["newreno", "quinn-bbr"]
    with pytest.raises(ff.Error, match=r"quinn-bbr draws at random .*accepted in a sweep"):
        ff.sweep(grid, out=tmp_path / "three")


def test_wrong_helpers_are_refused(tmp_path):
    for wrong in ({"client": 3}, {"executor": 3}, {"client": 3, "executor": 3}):
        with pytest.raises(ff.Error, match="accepted"):
            ff.sweep(GRID, out=tmp_path, **wrong)
    pool = ThreadPoolExecutor(1)
    pool.shutdown()
    with pytest.raises(ff.Error, match="executor: cannot schedule"):
        ff.sweep(GRID, out=tmp_path, executor=pool)
    with pytest.raises(ff.Error, match="chunk"):
        _sweep.run_chunk("{}")
