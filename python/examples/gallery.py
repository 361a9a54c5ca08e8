"""The figures of `firstflight.plots`, each from a few runs: python gallery.py FOLDER"""

import sys
from pathlib import Path

import matplotlib

matplotlib.use("agg")

import firstflight as ff
from firstflight import plots

CONTROLS = ["hystart", "rapid-start", "astart"]
TRANSFER = {"rate": "40Mbps", "rtt": "100ms", "duration": "120s"}


def figures():
    """Each figure with its name."""
    result = ff.compare(CONTROLS, buffer="0.5bdp", duration="5s", samples=1000)
    yield "window", plots.window(result)
    yield "delay", plots.delay(result)
    yield "queue", plots.delay(result, of="queue")
    yield "delivered", plots.delivered(result)

    sizes = [
        ff.compare(CONTROLS, size=f"{kb}kB", **TRANSFER) for kb in (50, 200, 1000, 4000, 16000)
    ]
    yield "completion", plots.completion(plots.together(*sizes), "hystart")[0]

    lossy = ff.compare(CONTROLS, size="2MB", loss="0.1%", runs=40, **TRANSFER)
    yield "ecdf", plots.ecdf(lossy)
    yield "exits", plots.exits(lossy)

    grid = [
        ff.compare(
            ["hystart", "astart"], rate=rate, rtt=rtt, buffer=buffer, size="2MB", duration="120s"
        )
        for rate in ("5Mbps", "20Mbps", "80Mbps")
        for rtt in ("20ms", "80ms", "320ms")
        for buffer in ("0.25bdp", "1bdp")
    ]
    yield "heatmap", plots.heatmap(plots.together(*grid), "astart", "hystart")[0]

    there = {"control": "cubic"}
    scenario = {"duration": "40s", "path": {"rate": "40Mbps", "rtt": "100ms"}}
    alone = ff.run({**scenario, "flow": [there]})
    comes = {"start": "8s", "size": "20MB"}
    joined = ff.run({**scenario, "controls": CONTROLS, "flow": [there, comes]})
    yield "harm", plots.harm(joined, alone)


def main():
    """Writes every figure as PNG and PDF."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "gallery")
    folder.mkdir(parents=True, exist_ok=True)
    for name, ax in figures():
        for kind in ("png", "pdf"):
            ax.figure.savefig(folder / f"{name}.{kind}")
        print(folder / f"{name}.pdf")


if __name__ == "__main__":
    main()
