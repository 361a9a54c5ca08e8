"""The folder of a sweep: its Parquet files, and what is wrong with it."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import firstflight as ff
import pytest
from sweeps import FILE, GRID, Counting, chunks, tables


@pytest.fixture(scope="module")
def parquet(tmp_path_factory):
    """The folder of a sweep as Parquet."""
    pytest.importorskip("pyarrow")
    out = tmp_path_factory.mktemp("parquet") / "out"
    assert ff.sweep(GRID, out=out, format="parquet").path == out
    return out


def test_parquet_holds_the_rows_of_csv(whole, parquet):
    from pyarrow import parquet as files

    rows = ff.sweep(GRID, out=whole).flows.to_dicts()
    table = files.read_table(parquet / "flows.parquet")
    assert table.to_pylist() == rows
    assert ff.sweep(GRID, out=parquet, format="parquet").flows.to_dicts() == rows
    assert (parquet / "summary.csv").read_bytes() == (whole / "summary.csv").read_bytes()
    # Units and meanings come along, and each chunk is a part of the table.
    assert table.schema.field("rtt_s").metadata[b"unit"] == b"s"
    parts = [files.read_table(file) for file in parquet.glob("chunks/*/*.parquet")]
    assert len(parts) == len(chunks(whole)) and sum(map(len, parts)) == len(rows)
    duckdb = pytest.importorskip("duckdb")
    asked = f"select count(*) from read_parquet('{parquet}/chunks/*/*.parquet')"
    assert duckdb.sql(asked).fetchall() == [(len(rows),)]


def test_parquet_has_the_same_bytes_however_it_was_run(parquet, tmp_path):
    executor = Counting()
    with pytest.raises(ff.Error, match="no room"):
        ff.sweep(GRID, out=tmp_path, executor=executor, format="parquet")
    executor.pool.shutdown()
    assert 4 <= len([*tmp_path.glob("chunks/*/*.parquet")]) < len([*parquet.glob("chunks/*/*")])
    ff.sweep(GRID, out=tmp_path, format="parquet")
    assert (tmp_path / "flows.parquet").read_bytes() == (parquet / "flows.parquet").read_bytes()


def test_the_command_of_the_package_writes_parquet_too(command, parquet, tmp_path):
    (tmp_path / "grid.toml").write_text(FILE)
    words = ("sweep", str(tmp_path / "grid.toml"), "--out", str(tmp_path / "out"))
    printed = command(*words, "--format", "parquet")
    assert printed.returncode == 0, printed.stderr
    written = (tmp_path / "out" / "flows.parquet").read_bytes()
    assert written == (parquet / "flows.parquet").read_bytes()
    assert command("sweep", "--summary", str(parquet)).returncode == 0
    refused = command(*words)
    assert refused.returncode == 2 and "found a sweep as parquet, this one is as csv" in (
        refused.stderr
    )


def test_a_damaged_parquet_file_is_named_and_run_again(parquet, tmp_path):
    shutil.copytree(parquet, tmp_path / "out")
    victim = next((tmp_path / "out").glob("chunks/*/*.parquet"))
    whole = victim.read_bytes()
    victim.write_bytes(b"PAR1")
    with pytest.warns(RuntimeWarning, match=f"{victim.name}: .* the chunk is run again"):
        ff.sweep(GRID, out=tmp_path / "out", format="parquet")
    assert victim.read_bytes() == whole
    written = (tmp_path / "out" / "flows.parquet").read_bytes()
    assert written == (parquet / "flows.parquet").read_bytes()


def test_a_format_that_is_none_is_an_error(tmp_path, monkeypatch):
    with pytest.raises(ff.Error, match='format: found "xls"; accepted: csv, parquet'):
        ff.sweep(GRID, out=tmp_path / "out", format="xls")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.delitem(sys.modules, "firstflight._parquet", raising=False)
    with pytest.raises(ff.Error, match=r"parquet takes pyarrow .*accepted: csv, or pip install"):
        ff.sweep(GRID, out=tmp_path / "out", format="parquet")
    assert not (tmp_path / "out").exists()


def test_a_folder_of_another_version_is_refused_and_kept(whole, tmp_path):
    shutil.copytree(whole, tmp_path / "out")
    about = tmp_path / "out" / "sweep.json"
    of = json.loads(about.read_text())
    about.write_text(json.dumps({**of, "version": "0.0.9"}))
    before = tables(tmp_path / "out"), chunks(tmp_path / "out")
    message = rf"found a sweep of version 0\.0\.9, this is version {ff.__version__}; accepted"
    with pytest.raises(ff.Error, match=message):
        ff.sweep(GRID, out=tmp_path / "out")
    assert (tables(tmp_path / "out"), chunks(tmp_path / "out")) == before


FILLED = """
import glob, os, sys
import firstflight as ff
from sweeps import GRID

kind, size = sys.argv[1:]
os.mkdir("small")
assert os.system(f"mount -t tmpfs -o size={size} none small") == 0
try:
    ff.sweep(GRID, out="small/out", format=kind)
except (OSError, RuntimeError) as error:
    print(error)
kept = glob.glob(f"small/out/chunks/*/*.{kind}")
print(len(kept), len(glob.glob("small/out/chunks/*/.*")))
assert os.system("mount -o remount,size=64m small") == 0
begun = []
ff.sweep(GRID, out="small/out", format=kind, progress=lambda *all: begun.append(all))
print(begun[0][0])
sys.stdout.flush()
sys.stdout.buffer.write(open("small/out/summary.csv", "rb").read())
"""


@pytest.mark.skipif(
    sys.platform != "linux" or os.geteuid() != 0, reason="mounts a small file system: Linux, root"
)
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_full_disk_ends_the_sweep_and_keeps_what_is_finished(kind, whole, parquet, tmp_path):
    # Half of the chunks find room. A file takes whole pages of 4 KiB.
    folder = {"csv": whole, "parquet": parquet}[kind]
    files = folder.glob(f"chunks/*/*.{kind}")
    size = f"{4 * sum(-(-file.stat().st_size // 4096) for file in files) // 2}k"
    child = ["unshare", "--mount", sys.executable, "-c", FILLED, kind, size]
    path = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    ended = subprocess.run(
        child, cwd=tmp_path, env={**os.environ, "PYTHONPATH": path}, capture_output=True
    )
    assert ended.returncode == 0, ended.stderr.decode()
    error, counts, begun, summary = ended.stdout.split(b"\n", 3)
    assert b"No space left on device" in error, error
    kept, hidden = map(int, counts.split())
    assert 0 < kept < len(chunks(whole)) and hidden == 0
    assert int(begun) >= kept
    assert summary == (whole / "summary.csv").read_bytes()


def test_the_connections_of_a_trial_become_parquet(command, tmp_path):
    from pyarrow import parquet as files

    head = {"schema": "firstflight/trial-recording@1", "control": "ff_scout", "against": "cubic"}
    head |= {"share": 0.05, "to": "::/0", "port": None, "by": "connection", "bytes": 100000}
    head |= {"age_s": 1.0, "tolerance": 0.02, "seed": 7}
    line = {"after_s": 1.5, "minute": 7, "local": "192.0.2.1:443", "remote": "192.0.2.9:5000"}
    line |= {"tried": True, "control": "ff_scout", "refused": False, "time_to_bytes_s": None}
    line |= {"bytes_at_age": 120000.5, "srtt_s": 0.04, "acked_bytes": 150000}
    line |= {"sent_again_bytes": 50, "timeouts": 1, "broken_off": False}
    written = (json.dumps(it, separators=(",", ":")) for it in (head, line, line))
    (tmp_path / "t.jsonl").write_text("\n".join(written) + "\n")
    printed = command("show", str(tmp_path / "t.jsonl"), "--out", str(tmp_path / "out"))
    assert printed.returncode == 0, printed.stderr
    assert files.read_table(tmp_path / "out" / "connections.parquet").to_pylist() == [line, line]
