"""The figures of `firstflight.plots`, each from a few runs, and with Altair those of
`firstflight.charts` as pages: python gallery.py FOLDER"""

import importlib.util
import sys
from pathlib import Path

import matplotlib

matplotlib.use("agg")

import firstflight as ff
from firstflight import charts, plots

CONTROLS = ["hystart", "rapid-start", "astart"]
TRANSFER = {"rate": "40Mbps", "rtt": "100ms", "duration": "120s"}


def figures():
    """The name of each figure, and what draws it with either module."""
    result = ff.compare(CONTROLS, buffer="0.5bdp", duration="5s", samples=1000)
    yield "window", lambda by: by.window(result)
    yield "delay", lambda by: by.delay(result)
    yield "queue", lambda by: by.delay(result, of="queue")
    yield "delivered", lambda by: by.delivered(result)

    sizes = [
        ff.compare(CONTROLS, size=f"{kb}kB", **TRANSFER) for kb in (50, 200, 1000, 4000, 16000)
    ]
    yield "completion", lambda by: by.completion(by.together(*sizes), "hystart")

    lossy = ff.compare(CONTROLS, size="2MB", loss="0.1%", runs=40, **TRANSFER)
    yield "ecdf", lambda by: by.ecdf(lossy)
    yield "exits", lambda by: by.exits(lossy)

    grid = [
        ff.compare(
            ["hystart", "astart"], rate=rate, rtt=rtt, buffer=buffer, size="2MB", duration="120s"
        )
        for rate in ("5Mbps", "20Mbps", "80Mbps")
        for rtt in ("20ms", "80ms", "320ms")
        for buffer in ("0.25bdp", "1bdp")
    ]
    yield "heatmap", lambda by: by.heatmap(by.together(*grid), "astart", "hystart")

    there = {"control": "cubic"}
    scenario = {"duration": "40s", "path": {"rate": "40Mbps", "rtt": "100ms"}}
    alone = ff.run({**scenario, "flow": [there]})
    comes = {"start": "8s", "size": "20MB"}
    joined = ff.run({**scenario, "controls": CONTROLS, "flow": [there, comes]})
    yield "harm", lambda by: by.harm(joined, alone)


def main():
    """Writes every figure as PNG and PDF, and as a page."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "gallery")
    folder.mkdir(parents=True, exist_ok=True)
    has_altair = importlib.util.find_spec("altair") is not None
    for name, draw in figures():
        ax = draw(plots)
        ax = ax if hasattr(ax, "figure") else ax[0]
        for kind in ("png", "pdf"):
            ax.figure.savefig(folder / f"{name}.{kind}")
        if has_altair:
            draw(charts).save(folder / f"{name}.html")
        print(folder / f"{name}.pdf")


if __name__ == "__main__":
    main()
