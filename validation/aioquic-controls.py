"""Controls of firstflight, and aioquic's own, in aioquic on the ten paths of ns3-controls.py.

    pip install .[aioquic] && python3 validation/aioquic-controls.py [CONTROL ...] > aioquic.csv

aioquic's two ends run over a simulated path in virtual time, so that every run gives these numbers.
A row has the path (its rate, RTT, buffer in packets, bytes of data), the control, the seconds from
the first packet of data until the last byte has arrived, the packets sent and dropped, and how
start-up ended.
"""

import csv
import importlib
import sys

from firstflight.aioquic import register, transfer

CONTROLS = ["hystart-pp", "rapid-start", "scout", "cubic", "newreno"]
OWN = ["aioquic-reno", "aioquic-cubic"]
HEAD = "path rate_mbps rtt_ms buffer_packets size_bytes control seconds packets drops exit exit_s"


def algorithm(control):
    if control in OWN:
        return control.removeprefix("aioquic-")
    return register(control, name=f"firstflight-{control}")


def transferred(control, path):
    rate, rtt, buffer, packets = path
    return transfer(
        algorithm(control),
        rate_bps=rate * 1e6,
        rtt_s=rtt / 1e3,
        buffer_packets=buffer,
        size_bytes=1000 * packets,
    )


def main():
    rows = csv.writer(sys.stdout)
    rows.writerow(HEAD.split())
    for name, path in importlib.import_module("ns3-controls").PATHS.items():
        for control in sys.argv[1:] or CONTROLS + OWN:
            done = transferred(control, path)
            seconds = "" if done.seconds is None else f"{done.seconds:.6f}"
            sender = getattr(done.control, "sender", None)
            why, at, _ = (sender and sender.exit) or ("", None, None)
            left = "" if at is None else f"{at - done.began_s:.6f}"
            cells = [seconds, done.packets, done.drops, why, left]
            rows.writerow([name, *path[:3], 1000 * path[3], control, *cells])
            sys.stdout.flush()


if __name__ == "__main__":
    main()
