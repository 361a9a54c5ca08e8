"""The notebook, the gallery and the README's code run as they stand."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import firstflight as ff
import pytest
from firstflight import _figures

pytest.importorskip("matplotlib")
ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "python" / "examples"
#: The functions of `plots` and `charts`.
FIGURES = re.findall(
    r"^def ([a-z]+)\(.*\) -> Figure", Path(_figures.__file__).read_text(), re.MULTILINE
)


def run_notebook(name):
    """Runs the cells in a folder of their own: the texts of the cells, and the names they leave."""
    cells = json.loads((EXAMPLES / name).read_text())["cells"]
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    # The first cell installs what is being tested here.
    assert code[0].startswith("%pip")
    names = {}
    for cell in code[1:]:
        exec(compile(cell, name, "exec"), names)
    return code, names


def test_the_notebook_runs_and_is_short(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, _ = run_notebook("first-figure.ipynb")
    assert (tmp_path / "window.pdf").read_bytes().startswith(b"%PDF")
    figure = next(place for place, cell in enumerate(code) if "savefig" in cell)
    lines = [line for cell in code[: figure + 1] for line in cell.splitlines() if line.strip()]
    assert len(lines) < 20


def test_the_answers_of_the_queries_are_those_of_the_rows(tmp_path, monkeypatch):
    for needed in ("polars", "duckdb", "pyarrow"):
        pytest.importorskip(needed)
    monkeypatch.chdir(tmp_path)
    _, names = run_notebook("queries.ipynb")
    rows = names["sweep"].flows.to_dicts()
    assert len(rows) == 36 * 4 * 3

    def mean(alias, **at):
        of = [row for row in rows if row["alias"] == alias and at.items() <= row.items()]
        times = [row["completion_time_s"] for row in of if row["completion_time_s"] is not None]
        return sum(times) / len(times)

    controls = names["grid"]["scenario"]["controls"]
    buffers = {}
    for row in rows:
        buffers[row["rate_bps"], row["rtt_s"], round(row["buffer_over_bdp"], 2)] = row["point"]
    assert len(names["best"]) == len(buffers) == 18
    for line in names["best"].to_dicts():
        at = {"rate_bps": line["mbps"] * 1e6, "rtt_s": line["rtt_ms"] / 1e3, "loss": 0.0}
        of = {row["buffer_packets"] for row in rows if at.items() <= row.items()}
        at["buffer_packets"] = min(of) if line["buffer"] < 0.5 else max(of)
        times = sorted((mean(control, **at), control) for control in controls)
        assert times[0] == (pytest.approx(line["seconds"]), line["best"])
        second = 100 * (times[1][0] / times[0][0] - 1)
        assert second == pytest.approx(line["second_slower_percent"])

    fails = {line["alias"]: line for line in names["fails"].to_dicts()}
    assert fails.keys() == set(controls)
    for control, line in fails.items():
        mine = [row for row in rows if row["alias"] == control]
        assert line["flows"] == len(mine) == 108
        assert line["with_timeout"] == sum(row["timeouts"] > 0 for row in mine)
        assert line["unfinished"] == sum(row["completion_time_s"] is None for row in mine)
    assert any(line["twice_as_slow"] for line in fails.values())

    for line in names["price"].to_dicts():
        at = {"rate_bps": line["mbps"] * 1e6, "rtt_s": line["rtt_ms"] / 1e3}
        for control in controls:
            times = mean(control, loss=0.001, **at) / mean(control, loss=0.0, **at)
            assert line[control] == pytest.approx(times, abs=0.0051)


@pytest.mark.parametrize("page", ["README.md", "docs/python.md"])
def test_the_code_on_a_page_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / page).read_text(), re.DOTALL)
    assert len(blocks) == (1 if page == "README.md" else 2)
    names = {}
    for block in blocks:
        exec(compile(block, page, "exec"), names)
    assert ("window.pdf" in os.listdir(tmp_path)) == (page == "README.md")
    assert page == "README.md" or issubclass(names["Quarter"], ff.Startup)


def test_the_gallery_draws_every_figure(tmp_path):
    script = [sys.executable, EXAMPLES / "gallery.py", tmp_path]
    run = subprocess.run(script, capture_output=True, text=True, timeout=300, check=False)
    assert run.returncode == 0, run.stderr
    drawn = {path.stem for path in tmp_path.glob("*.png")}
    assert drawn == {*FIGURES, "queue"} and len(FIGURES) == 8
    assert all(path.stat().st_size > 10_000 for path in tmp_path.glob("*.png"))
    assert {path.stem for path in tmp_path.glob("*.html")} == drawn


def test_figures_take_dataframes_and_refuse_other_tables():
    pytest.importorskip("pandas")
    flows = ff.compare(["hoe", "astart"], size="100kB", runs=3, duration="5s").flows
    lines = [
        [line.get_xydata().tolist() for line in ff.plots.ecdf(table).lines]
        for table in (flows, flows.to_pandas(), flows.to_arrow(), flows.to_polars())
    ]
    assert all(of == lines[0] for of in lines) and len(lines[0]) == 2
    with pytest.raises(ff.Error, match="lacks completion_time_s"):
        ff.plots.ecdf([{"alias": "hoe"}])
    with pytest.raises(ff.Error, match="lacks rows"):
        ff.plots.exits([])
    with pytest.raises(ff.Error, match="'rtt', 'queue'"):
        ff.plots.delay(ff.compare(["hoe"], duration="1s"), of="srtt")
    with pytest.raises(ff.Error, match="baseline = 'newreno'; accepted: hoe, astart"):
        ff.plots.completion(flows, "newreno")


def test_the_exit_is_marked_where_it_was():
    result = ff.compare(["hystart"], buffer="0.5bdp", duration="3s", samples=500)
    row = result.flows.to_dicts()[0]
    marks = [line for line in ff.plots.window(result).lines if line.get_marker() == "o"]
    assert [line.get_xydata().tolist() for line in marks] == [
        [[row["exit_time_s"], row["exit_cwnd_packets"]]]
    ]
