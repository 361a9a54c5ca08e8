"""Results and tables through pickle, and as arrays of numpy."""

import copy
import pickle
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import firstflight as ff
import pytest
from firstflight import _native

SCENARIOS = Path(__file__).parents[2] / "scenarios"
PATH = {"rate": "10Mbps", "rtt": "50ms", "size": "300kB", "duration": "5s"}


class Doubling(ff.Startup):
    """Slow start, until a loss."""

    def on_ack(self, view):
        return view.cwnd + view.acked


def through(object):
    return pickle.loads(pickle.dumps(object))


@pytest.mark.parametrize(
    "make",
    [
        lambda: ff.compare(["hoe", "astart"], runs=2, **PATH),
        lambda: ff.compare(["hoe(iw=4pkt)"], samples=50, on="quic", **PATH),
        lambda: ff.compare([Doubling, "hoe"], **PATH),
        lambda: ff.run(SCENARIOS / "cell-trace.toml", duration="1s", runs=1),
        lambda: ff.run(SCENARIOS / "cross-traffic.toml", duration="1s", runs=1),
        lambda: ff.run({"controls": ["hoe"], "expect": [{"jain_index": "< 0.5"}]}, **PATH),
    ],
    ids=["runs", "quic", "python", "trace", "traffic", "expect"],
)
def test_what_comes_back_is_equal(make):
    result = make()
    back = through(result)
    assert back == result and back.json() == result.json() and str(back) == str(result)
    assert back.unmet == result.unmet
    assert back.flows == result.flows == through(result.flows)
    # Sampled again here, or brought along.
    assert back.series == result.series == through(result).series


def test_what_differs_is_not_equal():
    one, other = ff.compare(["hoe"], **PATH), ff.compare(["hoe"], seed=2, **PATH)
    assert one != other and one.flows != other.flows and one != "hoe"
    assert copy.deepcopy(one.flows) == one.flows
    with pytest.raises(TypeError, match="unhashable"):
        hash(one)


def of_worker(control):
    return ff.compare([control], samples=100, **PATH)


def test_a_worker_sends_results():
    controls = ["hoe", Doubling]
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        sent = list(pool.map(of_worker, controls))
    for result, control in zip(sent, controls):
        assert result == of_worker(control) and result.series == of_worker(control).series


class Late(Doubling):
    summary = "comes late"


def named_late():
    return ff.compare([Late], **PATH)


def test_a_start_up_of_a_worker_is_known_from_then_on():
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        result = pool.submit(named_late).result()
    assert result.flows["alias"] == ["late"]
    assert "comes late" in str(ff.list("late"))


def test_what_no_pickle_had_is_refused():
    make, state = ff.compare(["hoe"], **PATH).__reduce__()
    on, scenario, document, *rest = state
    older = document.replace(f'"version":"{ff.__version__}"', '"version":"0.0.1"')
    with pytest.raises(ff.Error, match=f"found version 0.0.1; accepted: {ff.__version__}"):
        make(on, scenario, older, *rest)
    with pytest.raises(ff.Error, match="a pickled result: "):
        make(on, scenario, "{}", *rest)
    with pytest.raises(ff.Error, match=r"a pickled table: .*line"):
        _native.unpickled_table(b"number,loss\n1,0\n2\n")


def test_columns_are_arrays_of_numpy():
    numpy = pytest.importorskip("numpy")
    result = ff.compare(["hoe", "astart"], **PATH)
    flows = result.flows
    rate, drops = flows.to_numpy("throughput_bps"), flows.to_numpy("bottleneck_drops")
    assert rate.dtype == "float64" and rate.tolist() == flows["throughput_bps"]
    assert numpy.issubdtype(drops.dtype, numpy.integer)
    assert flows.to_numpy("alias").tolist() == ["hoe", "astart"]
    series = result.series.to_numpy()
    assert list(series) == result.series.columns
    hoe = (series["alias"] == "hoe") & (series["variable"] == "cwnd_packets")
    assert 0 < hoe.sum() < len(result.series) and series["value"][hoe].max() > 10
    # What was not measured.
    flows = ff.compare(["hoe"], duration="1s").flows
    assert numpy.isnan(flows.to_numpy("completion_time_s")).all()
    assert result.series.to_numpy("link").dtype == "object"
    with pytest.raises(KeyError, match="did you mean `rtt_s`"):
        flows.to_numpy("rtt_sec")


@pytest.mark.parametrize(
    "call, module",
    [
        ("to_numpy", "numpy"),
        ("to_arrow", "pyarrow"),
        ("to_pandas", "pyarrow"),
        ("to_polars", "polars"),
    ],
)
def test_without_the_library_one_sentence_says_so(call, module, monkeypatch):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ImportError, match=rf"{call} takes {module} .*; accepted: pip install"):
        getattr(ff.compare(["hoe"], duration="1s").flows, call)()
