"""The same controls on every stack, on the ten paths of ns3-controls.py, beside the simulator.

    python3 validation/everywhere.py FIRSTFLIGHT [STACK ...] [--s2n PROGRAM] [--c FOLDER]

FIRSTFLIGHT is the command. The stacks that are named are measured and kept in
stacks/everywhere.csv; it prints a table in Markdown of what is kept. s2n-quic takes its program,
which `cargo build` makes in stacks/s2n-quic/in-time, ns-3 the folder where `cargo xtask c FOLDER`
installed the C library, Linux qemu. Beside each stack the simulator runs with that stack's
endpoints. The script fails where the two differ by more than 5 % and explained.toml has no reason
for it (`?` in the table), and where a reason has nothing left to explain.
"""

import argparse
import csv
import importlib
import json
import subprocess
import sys
import tempfile
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
KEPT = HERE / "stacks/everywhere.csv"
MOST = 0.05

ns3 = importlib.import_module("ns3-controls")
CONTROLS = ["hoe", "hystart-pp", "rapid-start", "scout"]
# The flags of a stack that firstflight runs, and of its endpoints in the simulator.
QUIC = "--packet 1200B --headers 28B"
LINUX = "--packet 1448B --delayed-ack 2"
STACKS = {
    "quinn": (f"--on quic {QUIC}", f"--profile quic {QUIC}"),
    "noq": (f"--on noq {QUIC}", f"--profile quic {QUIC}"),
    # Its receiver acknowledges every fourth packet (`RECOMMENDED_ELICITATION_INTERVAL`).
    "s2n-quic": (None, f"--profile quic {QUIC} --delayed-ack 4"),
    "ns-3": (None, None),
    "Linux": (f"--on linux --virtual-time --link tun {LINUX}", LINUX),
}
HEAD = "stack,control,path,seconds,drops,simulated_seconds,simulated_drops"
SOURCE = "on ten paths, "


def compared(command, flags, control, path):
    """Seconds and drops by `firstflight compare`."""
    rate, rtt, buffer, packets = path
    words = f"--rate {rate}Mbps --rtt {rtt}ms --buffer {buffer}pkt --size {packets * 1000}B"
    words = [command, "compare", control, "--json", *words.split(), *flags.split()]
    done = subprocess.run([*words, "--duration", "60s"], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(words)}: {done.stderr}")
    run = json.loads(done.stdout)["runs"][0]
    return run["flows"][0]["completion_time_s"], run["bottleneck"]["drops"]


def by_s2n(program, control, path):
    rate, rtt, buffer, packets = map(str, path)
    words = [program, control, rate, rtt, buffer, str(1000 * int(packets))]
    done = subprocess.run(words, check=True, capture_output=True, text=True)
    told = json.loads(done.stdout)
    return told["seconds"], told["drops"]


def measured(asked, stack):
    """For every control and path: theirs, then the simulator's."""
    flags, simulated = STACKS[stack]
    with tempfile.TemporaryDirectory() as work, ThreadPoolExecutor(2) as pool:
        program = ns3.compiled(asked.c, Path(work)) if stack == "ns-3" else asked.s2n

        def pair(point):
            control, name = point
            path = ns3.PATHS[name]
            if stack == "ns-3":
                theirs = ns3.in_ns3(program, path, "TcpFirstflight", control)
                ours = ns3.in_simulator(asked.command, path, control)
                return theirs[:2], ours[:2]
            ours = compared(asked.command, simulated, control, path)
            if stack == "s2n-quic":
                return by_s2n(program, control, path), ours
            return compared(asked.command, flags, control, path), ours

        points = [(control, name) for control in CONTROLS for name in ns3.PATHS]
        return {
            (stack, *point): [f"{seconds:.4f}" if at == 0 else str(seconds) for one in both
                              for at, seconds in enumerate(one)]
            for point, both in zip(points, pool.map(pair, points))
        }


def kept():
    if not KEPT.exists():
        return {}
    with KEPT.open(newline="") as file:
        return {tuple(row[:3]): row[3:] for row in list(csv.reader(file))[1:]}


def keep(rows):
    points = [(control, name) for control in CONTROLS for name in ns3.PATHS]
    order = [(stack, *point) for stack in STACKS for point in points]
    with KEPT.open("w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(HEAD.split(","))
        out.writerows([*key, *rows[key]] for key in order if key in rows)


def reasons():
    """Stack, control and path: the letter and the sentence."""
    told = tomllib.loads((HERE / "explained.toml").read_text())["differs"]
    ours = [reason for reason in told if reason["from"].startswith(SOURCE)]
    found, sentences = {}, {}
    for reason in ours:
        sentences[reason["name"]] = " ".join(reason["why"].split())
        for at in reason["at"]:
            found[reason["from"].removeprefix(SOURCE), *at.split(": ")] = reason["name"]
    return found, sentences


def table(rows):
    """The lines of the table, and what is wrong."""
    found, sentences = reasons()
    wrong, used, lines = [], set(), []
    shown = [stack for stack in STACKS if any(key[0] == stack for key in rows)]
    for control in CONTROLS:
        lines += ["", f"### `{control}`", f"| path | {' | '.join(shown)} |"]
        lines.append("| --- |" + " --- |" * len(shown))
        for name in ns3.PATHS:
            cells = []
            for stack in shown:
                key = (stack, control, name)
                if key not in rows:
                    cells.append("-")
                    continue
                theirs, ours = float(rows[key][0]), float(rows[key][2])
                apart, letter = theirs / ours - 1, found.get(key)
                if abs(apart) > MOST and not letter:
                    wrong.append(f"{stack}, {control}, {name}: {apart:+.1%} without a reason")
                if abs(apart) > MOST:
                    used.add(key)
                bold = abs(apart) > MOST
                mark = f"**{apart:+.1%}** `{letter or '?'}`" if bold else f"{apart:+.1%}"
                cells.append(f"{theirs:.3f} {mark}")
            lines.append(f"| {name} | {' | '.join(cells)} |")
    measured_stacks = {key[0] for key in rows}
    stale = [key for key in found if key not in used and key[0] in measured_stacks]
    wrong += [f"{', '.join(key)}: a reason with nothing to explain" for key in stale]
    letters = sorted({found[key] for key in used if key in found})
    lines += ["", *[f"- `{letter}`: {sentences[letter]}" for letter in letters]]
    return "\n".join(lines) + "\n", wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("command", help="the command firstflight")
    parser.add_argument("stack", nargs="*", help=f"what to measure: {', '.join(STACKS)}")
    parser.add_argument("--s2n", metavar="PROGRAM", help="for s2n-quic")
    parser.add_argument("--c", metavar="FOLDER", help="for ns-3")
    asked = parser.parse_args()
    for stack in asked.stack:
        if stack not in STACKS:
            parser.error(f"stack: found {stack}; accepted: {', '.join(STACKS)}")
        takes = {"s2n-quic": ("--s2n", asked.s2n), "ns-3": ("--c", asked.c)}.get(stack)
        if takes and not takes[1]:
            parser.error(f"{stack}: takes {takes[0]}")
    rows = kept()
    for stack in asked.stack:
        rows |= measured(asked, stack)
        keep(rows)
    written, wrong = table(rows)
    print(written)
    for problem in wrong:
        print(problem, file=sys.stderr)
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
