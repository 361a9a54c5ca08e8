"""aioquic's two ends over a simulated path: a clock that jumps from event to event."""

from __future__ import annotations

import heapq
import ssl
from collections import deque
from dataclasses import dataclass
from datetime import datetime

from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.connection import QuicConnection
from aioquic.quic.events import ConnectionTerminated, StreamDataReceived
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.x509.oid import NameOID

from ._native import Error

HEADERS = 28
"""IPv4 and UDP, bytes of every packet on the link."""
WINDOW = 1 << 40
"""Flow control never limits."""
BEGIN = 1.0
"""The clock when the client's first packet leaves, seconds; a control takes 0 for no time."""

LATE = 1e-6
"""A timer fires so late, seconds, as all do: the sums that aioquic compares in its handler may
round to a time after the timer's, and it would be set again for ever."""


@dataclass
class Transfer:
    """What came of a transfer; `seconds` is None if it was not over in time."""

    seconds: float | None
    """From the first packet of data that leaves until the last byte has arrived."""
    began_s: float
    """The clock when the first packet of data left; at 1 the client's first packet did."""
    packets: int
    """Packets that the server sent."""
    drops: int
    """Those of them that the full buffer dropped."""
    control: object
    """The sender's congestion control, as it was in the end."""


class Link:
    """A drop-tail link in one direction: rate, delay, and room for so many waiting packets beside
    the one that is being sent."""

    def __init__(self, rate_bps, delay_s, buffer_packets):
        self.rate, self.delay, self.room = rate_bps, delay_s, buffer_packets
        self.leaving: deque[float] = deque()
        self.packets = self.drops = 0

    def arrival(self, now, size) -> float | None:
        """When a packet that enters now arrives; None if it is dropped."""
        while self.leaving and self.leaving[0] <= now:
            self.leaving.popleft()
        self.packets += 1
        if len(self.leaving) > self.room:
            self.drops += 1
            return None
        begins = self.leaving[-1] if self.leaving else now
        self.leaving.append(begins + 8 * (size + HEADERS) / self.rate)
        return self.leaving[-1] + self.delay


class Ends:
    """A client that asks for bytes, and a server that sends them through a link."""

    def __init__(self, algorithm, link, back_s, size):
        self.link, self.back_s, self.size = link, back_s, size
        ours = QuicConfiguration(alpn_protocols=["bytes"], max_data=WINDOW, max_stream_data=WINDOW)
        ours.verify_mode = ssl.CERT_NONE
        theirs = QuicConfiguration(is_client=False, alpn_protocols=["bytes"])
        theirs.congestion_control_algorithm = algorithm
        theirs.certificate, theirs.private_key = certificate()
        self.client = QuicConnection(configuration=ours)
        self.client.connect("server", now=BEGIN)
        cid = self.client.original_destination_connection_id
        self.server = QuicConnection(configuration=theirs, original_destination_connection_id=cid)
        self.arriving: list[tuple[float, int, QuicConnection, bytes]] = []
        self.count = self.came = 0
        self.came_to_server = False
        self.began: float | None = None
        self.over: float | None = None
        stream = self.client.get_next_available_stream_id()
        self.client.send_stream_data(stream, b"?", end_stream=True)

    def run(self, until):
        """Until all has arrived, nothing is left to happen, or the time is over."""
        now = BEGIN
        self.transmit(self.client, now)
        while self.over is None:
            # The server is there when the first packet has reached it.
            ends = [self.client, self.server][: 1 + bool(self.came_to_server)]
            timers = [(end, time + LATE) for end in ends if (time := end.get_timer()) is not None]
            times = [time for _, time in timers]
            times += [self.arriving[0][0]] if self.arriving else []
            if not times or min(times) > until:
                return
            now = max(now, min(times))
            # As a loop of sockets does it: an end sends after what happens to it alone.
            woken = [end for end, time in timers if time <= now]
            for end in woken:
                end.handle_timer(now=now)
                self.look_after(end, now)
            while self.arriving and self.arriving[0][0] <= now:
                _, _, end, data = heapq.heappop(self.arriving)
                self.came_to_server |= end is self.server
                end.receive_datagram(data, "server" if end is self.client else "client", now=now)
                self.look_after(end, now)

    def look_after(self, end, now):
        while (event := end.next_event()) is not None:
            self.react(end, event, now)
        self.transmit(end, now)

    def transmit(self, end, now):
        for data, _ in end.datagrams_to_send(now=now):
            if end is self.client:
                arrives, to = now + self.back_s, self.server
            else:
                arrives, to = self.link.arrival(now, len(data)), self.client
            if arrives is not None:
                self.count += 1
                heapq.heappush(self.arriving, (arrives, self.count, to, data))

    def react(self, end, event, now):
        if isinstance(event, ConnectionTerminated):
            raise Error(f"the connection ended: {event.reason_phrase or event.error_code}")
        if not isinstance(event, StreamDataReceived):
            return
        if end is self.client:
            self.came += len(event.data)
            self.over = now if event.end_stream else None
        elif event.end_stream:
            self.began = now
            self.server.send_stream_data(event.stream_id, bytes(self.size), end_stream=True)


def certificate():
    """A key and a certificate that it has signed itself; signatures of Ed25519 have one length, so
    that equal runs have equal packets."""
    key = Ed25519PrivateKey.generate()
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "server")])
    made = x509.CertificateBuilder(name, name, key.public_key(), 1)
    made = made.not_valid_before(datetime(2020, 1, 1)).not_valid_after(datetime(2040, 1, 1))
    return made.sign(key, None), key


def transfer(
    algorithm, *, rate_bps, rtt_s, buffer_packets, size_bytes, duration_s=120.0
) -> Transfer:
    """A server of aioquic sends a client of aioquic so many bytes over a simulated path.

    algorithm: the name of a control that aioquic knows: "reno", "cubic", or what `register`
        returned.
    rate_bps, rtt_s: of the bottleneck, bit/s, and of the path without a queue, seconds.
    buffer_packets: what waits before the bottleneck beside the packet that is being sent.
    size_bytes: what the client asks for. duration_s: when the run ends at the latest.

    Nothing waits for a clock, and equal calls have equal results.
    """
    for name, value in {"rate_bps": rate_bps, "rtt_s": rtt_s, "size_bytes": size_bytes}.items():
        if not value > 0:
            raise Error(f"{name}: found {value!r}; accepted: a number above 0")
    if buffer_packets < 0:
        raise Error(f"buffer_packets: found {buffer_packets!r}; accepted: 0 or more")
    link = Link(rate_bps, rtt_s / 2, buffer_packets)
    ends = Ends(algorithm, link, rtt_s / 2, size_bytes)
    ends.run(BEGIN + duration_s)
    began = ends.began if ends.began is not None else BEGIN
    seconds = None if ends.over is None else ends.over - began
    control = ends.server._loss._cc
    return Transfer(seconds, began, link.packets, link.drops, control)
