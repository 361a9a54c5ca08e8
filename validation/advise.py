"""How good the answers of `firstflight advise` are: paths at random, by Python's generator.

    python3 validation/advise.py FIRSTFLIGHT [--stack quinn] [--told] [--paths 40 --measured]

Each path is drawn whole: rate, RTT and size, which are told, and what is not; with --told all is
told but the ACKs. The advised control is compared with every gentle one on that very path. With
--measured the time that the stack's transport measures is compared with the simulator's. The rows
go into a table in --out, and what they come to is printed.
"""

import argparse
import csv
import json
import math
import random
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

SEED = 47
STACKS = {
    "linux": ["--packet", "1448B", "--headers", "52B"],
    "quinn": ["--profile", "quic"],
    "noq": ["--profile", "quic"],
}


def drawn(place, stack):
    """A path by its number, of the kinds that docs/advise.md says are drawn."""
    draw = random.Random(f"{SEED} {place} {stack}")

    def between(least, most):
        return least * (most / least) ** draw.random()

    rtt = between(5e-3, 0.6)
    path = {
        "rate": round(between(2e6, 5e8)),
        "rtt": rtt,
        "size": round(between(3e4, 2e7)),
        "buffer": between(0.1, 3),
        "loss": between(1e-5, 1e-2) if draw.random() < 0.5 else 0.0,
        "bursts": draw.random() < 0.5,
        "jitter": between(2e-4, max(4e-4, min(1e-2, rtt / 4))) if draw.random() < 0.5 else 0.0,
        "acks": draw.choice([2, 2, 4, 8]),
    }
    wire = 1500 if stack == "linux" else 1200
    path["places"] = max(1, round(path["buffer"] * path["rate"] / 8 * rtt / wire))
    return path


def known(path):
    rtt = f"{path['rtt'] * 1e6:.0f}us"
    return ["--rate", f"{path['rate']}bps", "--rtt", rtt, "--size", f"{path['size']}B"]


def unknown(path):
    loss = path["loss"]
    if loss and path["bursts"]:
        lost = f"ge:{100 * loss / (5 * (1 - loss)):.7f}%,20%"
    else:
        lost = f"{100 * loss:.7f}%"
    flags = ["--buffer", f"{path['places']}pkt", "--loss", lost]
    return flags + (["--jitter", f"{path['jitter'] * 1e6:.0f}us"] if path["jitter"] else [])


def run(program, *words):
    done = subprocess.run([program, *words], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(words)}: {done.stderr}")
    return json.loads(done.stdout)


def holds(change, path):
    """Whether the condition of a change holds, by the numbers of its sentence."""
    words = change["when"].split()
    if change["unknown"] == "bursts":
        return path["bursts"] == ("bursts" in change["when"])
    number = float(next(word for word in words if word[0].isdigit()))
    scale = {"buffer": 1, "loss": 100, "jitter": 1e3, "acks": 1}[change["unknown"]]
    value = path[change["unknown"]] * scale
    return value < number if {"below", "less"} & set(words) else value >= number


def judged(program, stack, place, knows):
    """The advised control beside every gentle one, on one path."""
    path = drawn(place, stack)
    more = unknown(path) if knows else []
    answer = run(program, "advise", "--on", stack, "--json", *known(path), *more)
    changes = sorted((c for c in answer["changes"] if holds(c, path)), key=lambda c: c["ratio"])
    take = answer["take"][0]
    gentle = {c["control"]: c["simulated"] for c in answer["controls"] if c["gentle"]}
    flags = [*known(path), *unknown(path), "--delayed-ack", str(path["acks"]), "--duration", "1h"]
    models = sorted(set(gentle.values()))
    runs = run(program, "compare", *models, *STACKS[stack], *flags, "--json")["runs"]
    seconds = {model: result["flows"][0]["completion_time_s"] or 3600.0
               for model, result in zip(models, runs)}
    best = min(seconds.values())
    row = {"place": place, **path, "points": len(answer["points"])}
    row |= {"take": take["control"], "best": min(seconds, key=seconds.get), "best_s": best}
    row["take_s"] = seconds[gentle[take["control"]]]
    row["then"] = changes[0]["take"] if changes else take["control"]
    row["then_s"] = seconds[gentle[row["then"]]]
    row["own_s"] = seconds.get(answer["own"]["simulated"], math.nan)
    row["within"] = take["least_s"] <= row["take_s"] <= take["most_s"]
    row["interval"] = answer["interval"]
    return row


def measured(program, stack, place, _knows):
    """What the stack's transport measures where all is told, beside what was simulated."""
    path = drawn(place, stack) | {"bursts": False}
    words = ["advise", "--on", stack, "--verify", "--json", *known(path), *unknown(path)]
    rows = run(program, *words)["verified"]
    return [{"place": place, **path, **row} for row in rows]


def share(rows, what):
    return 100 * sum(map(what, rows)) / max(1, len(rows))


def main():
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    asked.add_argument("program")
    asked.add_argument("--stack", choices=STACKS, default="linux")
    asked.add_argument("--paths", type=int, default=500)
    asked.add_argument("--measured", action="store_true")
    asked.add_argument("--told", action="store_true", help="buffer, loss and jitter too")
    asked.add_argument("--threads", type=int, default=2)
    asked.add_argument("--out", type=Path, default=Path("."))
    asked = asked.parse_args()
    work = measured if asked.measured else judged
    with ThreadPoolExecutor(asked.threads) as threads:
        one = lambda at: work(asked.program, asked.stack, at, asked.told)  # noqa: E731
        rows = list(threads.map(one, range(asked.paths)))
    if asked.measured:
        rows = [row for some in rows for row in some]
    kind = "-measured" if asked.measured else "-told" if asked.told else ""
    name = f"advise-{asked.stack}{kind}.csv"
    with open(asked.out / name, "w", newline="") as file:
        table = csv.DictWriter(file, rows[0], lineterminator="\n")
        table.writeheader()
        table.writerows(rows)
    if asked.measured:
        within = share(rows, lambda row: abs(row["measured_s"] / row["simulated_s"] - 1) <= 0.1)
        print(f"{asked.stack}: {len(rows)} transfers, {within:.0f} of 100 within 10 %")
        return
    for key in ("take_s", "then_s"):
        near = share(rows, lambda row: row[key] <= 1.03 * row["best_s"])
        mean = math.exp(sum(math.log(row[key] / row["best_s"]) for row in rows) / len(rows))
        result = f"{near:.1f} of 100 within 3 % of the best, {mean:.3f} in the mean"
        print(f"{asked.stack} {key}: {result}")
    print(f"{asked.stack} interval holds {share(rows, lambda row: row['within']):.1f} of 100")


if __name__ == "__main__":
    main()
