"""The same controls in ns-3 and in firstflight's simulator, on ten paths.

    cargo xtask c FOLDER
    python3 validation/ns3-controls.py FIRSTFLIGHT FOLDER

FIRSTFLIGHT is the command, FOLDER where the C library was installed. It compiles ns3-dumbbell.cc
with the module of examples/ns3 against the system's ns-3 (Debian: libns3-dev, g++) and prints a
table in Markdown: the seconds that a transfer takes here and in ns-3, and in its first column those
of ns-3's own NewReno and of ours within ns-3. It fails where a difference of more than 5 % has no
reason, which is known by what ns-3 counted.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections import namedtuple
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
MODULE = HERE.parent / "examples/ns3/model"
LIBRARIES = "applications internet nix-vector-routing point-to-point network core".split()

# Mbps, RTT in ms, buffer in packets, packets to send.
PATHS = {
    "10 Mbps, 40 ms, 1 BDP": (10, 40, 50, 1000),
    "10 Mbps, 100 ms, 4 BDP": (10, 100, 500, 2000),
    "10 Mbps, 600 ms, 1 BDP": (10, 600, 750, 3000),
    "40 Mbps, 20 ms, 0.5 BDP": (40, 20, 50, 2000),
    "40 Mbps, 100 ms, 1 BDP": (40, 100, 500, 3000),
    "40 Mbps, 100 ms, 0.25 BDP": (40, 100, 125, 3000),
    "40 Mbps, 300 ms, 0.5 BDP": (40, 300, 750, 5000),
    "100 Mbps, 20 ms, 2 BDP": (100, 20, 500, 4000),
    "100 Mbps, 50 ms, 0.1 BDP": (100, 50, 62, 5000),
    "200 Mbps, 100 ms, 1 BDP": (200, 100, 2500, 10000),
}
# ns-3's receiver may delay ACKs, so that the module has weights per packet; here the receiver
# acknowledges every packet, and the preset is said.
CONTROLS = {
    "hoe": "hoe",
    "astart": "astart(preset=per-packet)",
    "hystart-pp": "hystart-pp",
    "rapid-start": "rapid-start",
    "scout": "scout",
}
# What ns-3's own class is called, and what it is held to.
OWN = "newreno"
MOST = 0.05
REASONS = {
    "b": "at the end of its recovery ns-3's own class fills its window at once; what does not fit "
    "into the buffer is dropped",
    "t": "ns-3's timer fired: it finds a retransmission that was lost in no other way, RACK does",
    "r": "ns-3 sends again at the end of the data what is not known to be lost (RFC 6675, NextSeg "
    "rule 3), which RACK here finds a round later",
}


Run = namedtuple("Run", "seconds drops repeats timeouts")


def compiled(folder, work):
    program = work / "ns3-dumbbell"
    command = ["g++", "-O2", "-std=c++17", f"-I{MODULE}", f"-I{folder}/include"]
    command += [HERE / "ns3-dumbbell.cc", MODULE / "tcp-firstflight.cc", "-o", program]
    command += [f"-lns3-{name}" for name in LIBRARIES]
    command += [f"{folder}/lib/libfirstflight_c.a", "-lpthread", "-ldl", "-lm"]
    subprocess.run(command, check=True)
    return program


def in_ns3(program, path, algorithm, control=""):
    rate, rtt, buffer, packets = path
    keys = f"rate={rate} rtt={rtt} buf={buffer} packets={packets} dur=120 hdr=add iw=10 ssthresh=0"
    words = [program, f"alg={algorithm}", *keys.split()]
    # The defaults of ns-3's attributes.
    environment = os.environ | {"NS_ATTRIBUTE_DEFAULT": f"ns3::TcpFirstflight::Control={control}"}
    done = subprocess.run(words, check=True, capture_output=True, text=True, env=environment)
    if done.stderr:
        # A library built for conformance says what the module told it wrongly.
        print(f"{path} {control}: {done.stderr}", file=sys.stderr)
    result = json.loads(done.stdout)
    assert result["finished"] == 1, result
    # The ACK that ends the handshake counts there as a packet that left again.
    return Run(result["last_finish_s"], result["drops"], result["rtx"] - 1, result["timeouts"])


def in_simulator(command, path, control):
    rate, rtt, buffer, packets = path
    flags = f"--rate {rate}Mbps --rtt {rtt}ms --buffer {buffer}pkt --packet 1000B --headers 42B"
    flags += f" --access-rate {10 * rate}Mbps --size {packets * 1000}B --duration 120s"
    flags += " --profile rfc --recovery rack --iw 10pkt --ssthresh none --syn true --rto-min 200ms"
    words = [command, "compare", CONTROLS[control], "--json", *flags.split()]
    done = subprocess.run(words, check=True, capture_output=True, text=True)
    run = json.loads(done.stdout)["runs"][0]
    flow, drops = run["flows"][0], run["bottleneck"]["drops"]
    seconds, repeats = flow["completion_time_s"], flow["retransmitted_packets"]
    return Run(seconds, drops, repeats, flow["timeouts"])


def reason(control, first, second):
    """Why two runs differ: nothing, a letter of REASONS, or `?`."""
    if abs(second.seconds / first.seconds - 1) <= MOST:
        return ""
    if control == OWN:
        return "b" if first.drops > second.drops else "?"
    if second.timeouts > first.timeouts:
        return "t"
    return "r" if second.repeats > second.drops else "?"


def main():
    command, folder = sys.argv[1:]
    with tempfile.TemporaryDirectory() as work, ThreadPoolExecutor(2) as pool:
        program = compiled(folder, Path(work))

        def pair(point):
            path, control = PATHS[point[0]], point[1]
            ours = in_ns3(program, path, "TcpFirstflight", CONTROLS.get(control, control))
            if control == OWN:
                return in_ns3(program, path, OWN), ours
            return in_simulator(command, path, control), ours

        controls = [OWN, *CONTROLS]
        points = [(path, control) for path in PATHS for control in controls]
        pairs = dict(zip(points, pool.map(pair, points)))
    heads = [f"`{control}`" for control in controls]
    print("| path |", " | ".join(heads), "|")
    print("| --- |" + " --- |" * len(heads))
    reasons = set()
    for path in PATHS:
        cells = []
        for control in controls:
            first, second = pairs[path, control]
            why = reason(control, first, second)
            reasons.add(why)
            cells.append(f"{first.seconds:.3f} / {second.seconds:.3f}{why and ' ' + why}")
        print(f"| {path} |", " | ".join(cells), "|")
    clean = [pair for pair in pairs.values() if pair[0].drops + pair[1].drops == 0]
    worst = max(abs(second.seconds / first.seconds - 1) for first, second in clean)
    print(f"\n{len(clean)} of {len(pairs)} lose nothing; they differ by {worst:.1%} at most.")
    for letter in sorted(reasons & REASONS.keys()):
        print(f"- `{letter}`: {REASONS[letter]}")
    return int("?" in reasons)


if __name__ == "__main__":
    sys.exit(main())
