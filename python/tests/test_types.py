"""Types: the stubs, the package behind them, and what they say to users."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]

#: What only one of stubs and package has: figures' own constants, and a type of keywords.
ONE_SIDED = r"""
firstflight\.(charts|plots)\.[A-Z]+
firstflight\.Path
firstflight\._native\.__all__
"""

TYPED = """
import firstflight as ff

class Mine(ff.Startup):
    def on_ack(self, view: ff.View) -> float | ff.Step:
        return ff.Leave() if view.cwnd > 100 else view.cwnd + view.acked

result = ff.compare([Mine, "hoe"], rate="1Mbps", rtt=(50, "ms"), runs=2)
rows: list[dict[str, object]] = result.flows.to_dicts()
ff.plots.window(result)
"""


def mypy(module, *words):
    line = [sys.executable, "-m", module, *words]
    return subprocess.run(line, capture_output=True, text=True, check=False, cwd=ROOT)


def test_the_package_has_no_error_of_types():
    found = mypy("mypy", "python/firstflight")
    assert found.returncode == 0, found.stdout


def test_the_stubs_are_the_package(tmp_path):
    allowed = tmp_path / "allowed"
    allowed.write_text(ONE_SIDED)
    words = ["--mypy-config-file", "pyproject.toml", "--allowlist", allowed]
    found = mypy("mypy.stubtest", "firstflight", *words)
    assert found.returncode == 0, found.stdout


def test_the_types_are_those_of_the_stubs():
    def judged(code):
        return mypy("mypy", "--strict", "-c", code)

    good, bad = judged(TYPED), judged(TYPED + 'ff.compare(["hoe"], rate=40)\n')
    assert good.returncode == 0, good.stdout
    assert bad.returncode == 1 and '"rate"' in bad.stdout
