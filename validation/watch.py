"""Whether `firstflight kernel watch` tells the ends of slow start that another reading tells.

    python3 validation/watch.py FIRSTFLIGHT [--out FILE]

Six controls send over ten paths of the lab, while `kernel watch` runs on this host; the lab reads
TCP_INFO of the sender every 10 ms, and its link counts drops and marks. Each line compares the two:
the reason, and the window, which grows by up to a fifth between two samples. Needs root and a
program built with `--features kernel`.
"""

import argparse
import json
import subprocess
import tempfile
import time
from pathlib import Path

CONTROLS = ["linux-reno", "linux-cubic", "linux-bbr", "hystart-pp", "scout", "astart"]
PATH = {"rate": "40Mbps", "rtt": "40ms", "buffer": "1bdp"}
# Name, the path beside the one above, the flow, and keys of the scenario or of the path.
PATHS = [
    ("1 BDP", {}, {}, ""),
    ("0.25 BDP", {"buffer": "0.25bdp"}, {}, ""),
    ("3 BDP", {"buffer": "3bdp"}, {}, ""),
    ("100 ms", {"rtt": "100ms"}, {}, ""),
    ("10 Mbit/s", {"rate": "10Mbps"}, {"size": "2MB"}, ""),
    ("2 % lost", {"loss": "2%"}, {"size": "1MB"}, ""),
    ("marks", {"ecn_threshold": "20pkt"}, {}, "ecn = true"),
    ("outage", {}, {}, 'rates = [{ rate = "40Mbps" }, { at = "180ms", rate = "none" }, '
                       '{ at = "900ms", rate = "40Mbps" }]'),
    ("12 KB", {}, {"size": "12KB"}, ""),
    ("100 KB", {}, {"size": "100KB"}, ""),
]
REASONS = {"loss": "loss", "timeout": "timeout", "ecn": "mark", "heuristic": "heuristic",
           "ssthresh": "heuristic", None: "none"}


def table(name, pairs):
    return f"[{name}]\n" + "".join(f"{key} = {json.dumps(of)}\n" for key, of in pairs.items())


def scenario(path, flow, more):
    keys = f'controls = {json.dumps(CONTROLS)}\nduration = "10s"\n'
    keys += more + "\n" if more.startswith("ecn") else ""
    path = table("path", {**PATH, **path}) + (more + "\n" if more.startswith("rates") else "")
    return keys + path + table("[flow]", {"size": "3MB", **flow})


def senders(recording):
    lines = [json.loads(line) for line in recording.read_text().splitlines()]
    return [it for it in lines if not it.get("accepted", True) and it["local"].startswith("10.77.")]


def end_of(it):
    return it["slow_start_end"] if it["slow_start_ended"] else "none"


def measure(program, folder):
    recording = folder / "watched.jsonl"
    watch = subprocess.Popen([program, "kernel", "watch", "--json", "--out", recording],
                             stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    assert "watching" in watch.stderr.readline(), "kernel watch does not run"
    rows, before = [], 0
    try:
        for name, path, flow, more in PATHS:
            file = folder / "scenario.toml"
            file.write_text(scenario(path, flow, more))
            ran = subprocess.run([program, "run", file, "--on", "linux", "--json"],
                                 capture_output=True, text=True)
            if ran.returncode:
                print(f"{name}: {ran.stderr.strip()}")
                continue
            time.sleep(2)
            watched = senders(recording)[before:]
            before += len(watched)
            runs = json.loads(ran.stdout)["runs"]
            if len(watched) != len(runs):
                print(f"{name}: {len(runs)} transfers, {len(watched)} told")
                continue
            rows += [(name, run, it) for run, it in zip(runs, watched)]
    finally:
        watch.terminate()
        watch.wait()
    return rows


def main():
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("program")
    asked.add_argument("--out", type=Path)
    args = asked.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows = measure(args.program, Path(folder))
    differ, far, lines = 0, 0, []
    for name, run, it in rows:
        flow = run["flows"][0]
        startup, done = flow["startup"], flow["completion_time_s"]
        exit_s = startup["exit_time_s"]
        # The lab hears of the last byte before the sender does.
        over = exit_s is None or done is not None and exit_s > done
        reason = REASONS[None if over else startup["exit_reason"]]
        window, seen = startup["exit_cwnd_packets"] or 0, it["end_cwnd_packets"]
        is_other = reason != end_of(it)
        is_far = not is_other and reason != "none" and abs(seen - window) > 0.2 * window
        differ, far = differ + is_other, far + is_far
        mark = " !" if is_other else " ~" if is_far else ""
        timing = run["lab"]["timing"]
        lines.append(f"{name:10} {run['alias']:12} lab {reason:10} {window:5} "
                     f"watch {end_of(it):10} {seen:5} {timing}{mark}")
    lines.append(f"{len(rows)} connections: {differ} reasons differ, "
                 f"{far} windows by more than a fifth")
    print("\n".join(lines))
    if args.out:
        args.out.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
