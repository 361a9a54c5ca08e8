"""The same controls on every stack, on the ten paths of ns3-controls.py, beside the simulator.

    python3 validation/everywhere.py FIRSTFLIGHT [STACK ...] [--s2n PROGRAM] [--c FOLDER]

FIRSTFLIGHT is the command. The stacks that are named are measured and kept in
stacks/everywhere.csv, and the tables of docs/every-stack.md are made of what is kept. s2n-quic
takes its program, which `cargo build` makes in stacks/s2n-quic/in-time, ns-3 the folder where
`cargo xtask c FOLDER` installed the C library, Linux qemu, and aioquic that the Python which runs
this has the package `firstflight[aioquic]`. Beside each stack the simulator runs with that stack's
endpoints. The script fails where the two differ by more than 5 % and stacks/explained.toml has no
reason for it (`?` in the table), and where a reason has nothing left to explain.
"""

import argparse
import csv
import importlib
import json
import statistics
import subprocess
import sys
import tempfile
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
KEPT = HERE / "stacks/everywhere.csv"
PAGE = HERE.parent / "docs/every-stack.md"
BEGIN, END = "<!-- measured: validation/everywhere.py -->", "<!-- end of what is measured -->"
MOST = 0.05

ns3 = importlib.import_module("ns3-controls")
CONTROLS = ["hoe", "hystart-pp", "rapid-start", "scout"]
# The flags of a stack that firstflight runs, and of its endpoints in the simulator.
QUIC = "--packet 1200B --headers 28B"
LINUX = "--packet 1448B --delayed-ack 2"
STACKS = {
    "quinn": (f"--on quic {QUIC}", f"--profile quic {QUIC}"),
    "noq": (f"--on noq {QUIC}", f"--profile quic {QUIC}"),
    # Its receiver acknowledges every tenth packet (`packet_tolerance` in ack/ack_manager.rs).
    "s2n-quic": (None, f"--profile quic {QUIC} --delayed-ack 10"),
    # Its receiver holds every ACK for a millisecond (`_ack_delay` in quic/connection.py).
    "aioquic": (None, f"--profile quic {QUIC} --delayed-ack 1000 --delayed-ack-timer 1ms"),
    "ns-3": (None, None),
    "Linux": (f"--on linux --virtual-time --link tun {LINUX}", LINUX),
}
# What the table shows as the simulator's: that of quinn's endpoints.
SIMULATOR = "quinn"
HEAD = "stack,control,path,seconds,drops,simulated_seconds,simulated_drops"


def compared(command, flags, path):
    """Seconds and drops of every control by `firstflight compare`."""
    rate, rtt, buffer, packets = path
    words = f"--rate {rate}Mbps --rtt {rtt}ms --buffer {buffer}pkt --size {packets * 1000}B"
    words = [command, "compare", *CONTROLS, "--json", *words.split(), *flags.split()]
    done = subprocess.run([*words, "--duration", "60s"], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(words)}: {done.stderr}")
    runs = json.loads(done.stdout)["runs"]
    return [(run["flows"][0]["completion_time_s"], run["bottleneck"]["drops"]) for run in runs]


def in_s2n(program, path):
    rate, rtt, buffer, packets = map(str, path)
    words = [[control, rate, rtt, buffer, packets + "000"] for control in CONTROLS]
    done = subprocess.run([program, *sum(words, [])], check=True, capture_output=True, text=True)
    runs = [json.loads(line) for line in done.stdout.splitlines()]
    return [(one["seconds"], one["drops"]) for one in runs]


def in_aioquic(path):
    """Its time begins with the data; that of all others has a round trip of handshake before it."""
    aioquic = importlib.import_module("aioquic-controls")
    done = [aioquic.transferred(control, path) for control in CONTROLS]
    return [(path[1] / 1e3 + one.seconds, one.drops) for one in done]


def measured(asked, stack, path):
    """What every control does there, and what it does in the simulator."""
    flags, simulated = STACKS[stack]
    if stack == "ns-3":
        program = asked.ns3
        theirs = [ns3.in_ns3(program, path, "TcpFirstflight", control) for control in CONTROLS]
        ours = [ns3.in_simulator(asked.command, path, control) for control in CONTROLS]
        return [run[:2] for run in theirs], [run[:2] for run in ours]
    ours = compared(asked.command, simulated, path)
    if stack == "s2n-quic":
        return in_s2n(asked.s2n, path), ours
    if stack == "aioquic":
        return in_aioquic(path), ours
    return compared(asked.command, flags, path), ours


def rows_of(asked, stack, name):
    theirs, ours = measured(asked, stack, ns3.PATHS[name])
    return {
        (stack, control, name): [f"{mine[0]:.4f}", str(mine[1]), f"{sim[0]:.4f}", str(sim[1])]
        for control, mine, sim in zip(CONTROLS, theirs, ours)
    }


def every():
    """The rows in their order: stack, control, path."""
    return [(stack, each, name) for stack in STACKS for each in CONTROLS for name in ns3.PATHS]


def kept():
    with KEPT.open(newline="") as file:
        return {tuple(row[:3]): row[3:] for row in list(csv.reader(file))[1:]}


def keep(rows):
    with KEPT.open("w", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(HEAD.split(","))
        out.writerows([*key, *rows[key]] for key in every() if key in rows)


def reasons():
    """The letters by stack, control and path, and their sentences."""
    explained = tomllib.loads((HERE / "stacks/explained.toml").read_text())["differs"]
    found, sentences = {}, {}
    for reason in explained:
        sentences[reason["name"]] = " ".join(reason["why"].split())
        for at in reason["at"]:
            who, path = at.split(": ")
            found[*who.split(", "), path] = reason["name"]
    return found, sentences


def tables(rows):
    """The lines of the tables and of the reasons, and what is wrong."""
    found, sentences = reasons()
    wrong, used, lines = [], set(), []
    for control in CONTROLS:
        lines += ["", f"### `{control}`", f"| path | simulator | {' | '.join(STACKS)} |"]
        lines.append("| --- | --- |" + " --- |" * len(STACKS))
        for name in ns3.PATHS:
            cells = [rows[SIMULATOR, control, name][2].rstrip("0")]
            for stack in STACKS:
                key = (stack, control, name)
                theirs, ours = float(rows[key][0]), float(rows[key][2])
                apart, letter = theirs / ours - 1, found.get(key)
                mark = f"{apart:+.1%}"
                if abs(apart) > MOST:
                    used.add(key)
                    mark = f"**{mark}** {letter or '?'}"
                    if not letter:
                        wrong.append(f"{', '.join(key)}: {apart:+.1%} without a reason")
                cells.append(f"{theirs:.3f} {mark}")
            lines.append(f"| {name} | {' | '.join(cells)} |")
    wrong += [f"{', '.join(key)}: a reason with nothing to explain" for key in found.keys() - used]
    letters = sorted({found[key] for key in used & found.keys()})
    lines += ["", "### Reasons", *[f"- **{letter}**: {sentences[letter]}" for letter in letters]]
    return "\n".join(lines).strip() + "\n", wrong


def summary(rows):
    """How far each stack is from the simulator, and each control from HyStart++."""
    first = "hystart-pp"
    lines = [f"| | {' | '.join(STACKS)} |", "| --- |" + " --- |" * len(STACKS)]
    apart = []
    for stack in STACKS:
        own = [row for key, row in rows.items() if key[0] == stack]
        apart.append([abs(float(row[0]) / float(row[2]) - 1) for row in own])
    near = [f"{sum(it <= MOST for it in one)} of {len(one)}" for one in apart]
    lines.append(f"| within {MOST:.0%} of the simulator | {' | '.join(near)} |")
    median = [f"{statistics.median(one):.1%}" for one in apart]
    lines.append(f"| from the simulator, median | {' | '.join(median)} |")
    for control in CONTROLS:
        cells = []
        for stack in STACKS:
            ours, its = (
                [float(rows[stack, one, name][0]) for name in ns3.PATHS] for one in (control, first)
            )
            over = [mine / theirs for mine, theirs in zip(ours, its)]
            cells.append(f"{statistics.median(over):.2f} ({max(over):.2f})")
        if control != first:
            head = f"`{control}`'s time over `{first}`'s: median (worst)"
            lines.append(f"| {head} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def show(written):
    before, rest = PAGE.read_text().split(BEGIN)
    PAGE.write_text(f"{before}{BEGIN}\n\n{written}{END}{rest.split(END)[1]}")


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
    with tempfile.TemporaryDirectory() as work, ThreadPoolExecutor(2) as pool:
        if "ns-3" in asked.stack:
            asked.ns3 = ns3.compiled(asked.c, Path(work))
        for stack in asked.stack:
            for found in pool.map(lambda name: rows_of(asked, stack, name), ns3.PATHS):
                rows |= found
                keep(rows)
    if missing := [key for key in every() if key not in rows]:
        sys.exit(f"{KEPT}: {', '.join(missing[0])} is not measured")
    written, wrong = tables(rows)
    show(f"{summary(rows)}\n{written}")
    for problem in sorted(wrong):
        print(problem, file=sys.stderr)
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
