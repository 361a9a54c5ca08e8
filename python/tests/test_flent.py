"""`run --flent`: flent's own loader reads it."""

import json

import pytest

resultset = pytest.importorskip("flent.resultset")

SCENARIO = """
controls = ["slow-start"]
duration = "8s"
[path]
rate = "10Mbps"
rtt = "50ms"
[[flow]]
size = "1MB"
[[flow]]
start = "1s"
size = "500kB"
"""


def test_flent_reads_what_each_flow_delivers(command, tmp_path):
    (tmp_path / "two.toml").write_text(SCENARIO)
    words = ["run", str(tmp_path / "two.toml"), "--flent", str(tmp_path / "it"), "--json"]
    ran = command(*words)
    assert ran.returncode == 0, ran.stderr
    flows = json.loads(ran.stdout)["runs"][0]["flows"]
    data = resultset.load(str(tmp_path / "it/slow-start.flent.gz"))
    assert data.meta("TEST_PARAMETERS") == {"upload_streams": "2"}
    step = data.meta("STEP_SIZE")
    for number, flow in enumerate(flows, 1):
        mbps = data.series(f"TCP upload::{number}")
        assert sum(x or 0 for x in mbps) * step * 1e6 / 8 == pytest.approx(flow["delivered_bytes"])
        cwnd = dict(data.raw_series(f"TCP upload::{number}", raw_key="tcp_cwnd"))
        assert max(cwnd.values()) <= flow["peak_cwnd_packets"]
        rtt = dict(data.raw_series(f"TCP upload::{number}", raw_key="tcp_rtt"))
        assert 50 < min(rtt.values()) < 60
    late = [x for x, y in zip(data.x_values, data.series("TCP upload::2")) if y is not None]
    assert late[0] == pytest.approx(1, abs=step)
