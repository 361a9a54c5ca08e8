"""Tables: what pandas, polars, DuckDB and pyarrow take of them."""

import csv

import firstflight as ff
import pytest

PATH = {"rate": "10Mbps", "rtt": "50ms", "size": "300kB", "duration": "5s"}


@pytest.fixture(scope="module")
def result():
    return ff.compare(["hoe", "astart"], runs=2, **PATH)


def test_all_take_the_same_table(result):
    pyarrow = pytest.importorskip("pyarrow")
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    duckdb = pytest.importorskip("duckdb")
    rows = result.flows.to_dicts()
    table = pyarrow.table(result.flows)
    assert table.to_pylist() == rows and len(rows) == 4 == len(result.flows)
    assert polars.DataFrame(result.flows).to_dicts() == rows
    assert isinstance(result.flows.to_pandas(), pandas.DataFrame)
    assert list(result.flows.to_pandas()["alias"]) == ["hoe", "hoe", "astart", "astart"]
    flows = result.flows  # noqa: F841  DuckDB finds it by its name
    found = duckdb.sql("select count(*), max(seed) from flows").fetchall()
    assert found == [(4, 2)]


def test_the_memory_is_shared(result):
    pyarrow = pytest.importorskip("pyarrow")
    first, second = pyarrow.table(result.flows), pyarrow.table(result.flows)
    of = [table["throughput_bps"].chunk(0).buffers()[1].address for table in (first, second)]
    assert of[0] == of[1]
    # The memory outlives the result that it came from.
    alone = pyarrow.table(ff.compare(["hoe"], **PATH).flows)
    assert alone["alias"].to_pylist() == ["hoe"]


def test_columns_say_their_units_and_unmeasured_is_none():
    flows = ff.compare(["hoe"], duration="1s").flows
    assert flows["size_bytes"] == [None] and flows["completion_time_s"] == [None]
    assert flows["rate_bps"] == [40_000_000]
    assert flows.about["rtt_s"][0] == "s" and list(flows.about) == flows.columns
    with pytest.raises(KeyError, match="did you mean `rtt_s`"):
        flows["rtt_sec"]


def test_series_are_long_and_the_same_sampled_at_once_or_later(result):
    series = result.series
    variables = set(series["variable"])
    assert {"cwnd_packets", "in_flight_packets", "queue_packets"} <= variables
    assert len(series) == len(series["value"]) > 1000
    eager = ff.compare(["hoe", "astart"], runs=2, samples=2000, **PATH)
    assert eager.series.to_dicts() == series.to_dicts()
    assert eager.json() == result.json()
    few = ff.compare(["hoe"], samples=10, **PATH)
    assert 0 < len(few.series) < len(series) / 10


def test_csv_has_the_rows(result, tmp_path):
    file = tmp_path / "flows.csv"
    result.flows.to_csv(file)
    with file.open() as lines:
        rows = list(csv.DictReader(lines))
    assert [row["alias"] for row in rows] == result.flows["alias"]
    assert [float(row["throughput_bps"]) for row in rows] == result.flows["throughput_bps"]


def test_a_result_shows_itself(result):
    assert "<th>throughput (Mbps)</th>" in result._repr_html_()
    assert result._repr_html_().count("<tr>") == 5
    assert "astart" in str(result) and "finishes first" in str(result)
    assert "point" in result.flows._repr_html_()
    assert "more rows" in result.series._repr_html_()
