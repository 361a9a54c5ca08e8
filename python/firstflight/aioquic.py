"""Controls of firstflight in aioquic (1.7), the QUIC of Python.

    import firstflight.aioquic
    from aioquic.quic.configuration import QuicConfiguration

    algorithm = firstflight.aioquic.register("hystart-pp")
    QuicConfiguration(is_client=False, congestion_control_algorithm=algorithm)

The end that sends the data has the control. `transfer` runs aioquic's two ends over a simulated
path, in virtual time.
"""

from __future__ import annotations

from functools import wraps

from aioquic.quic.congestion.base import (
    QuicCongestionControl,
    create_congestion_control,
    register_congestion_control,
)
from aioquic.quic.recovery import QuicPacketPacer, QuicPacketRecovery
from aioquic.tls import Epoch

from ._aioquic_path import Transfer, transfer
from ._native import Error, Sender
from ._startup import named

__all__ = ["Control", "Transfer", "register", "transfer"]


def register(control, name=None) -> str:
    """Makes a control known to aioquic; returns the name that a configuration takes.

    control: a name such as "hystart-pp" or "scout+cubic", or a start-up of your own (`Startup`).
    name: what aioquic is to call it; without it the control as it is written. aioquic's own names,
        "reno" and "cubic", stay aioquic's.

    `ff.Error` says what is wrong with a control, or what it needs that aioquic does not have.
    """
    (control,) = named([control])
    name = control if name is None else str(name)
    # What is wrong is said here, not when a connection opens.
    Control(control, max_datagram_size=1200)
    try:
        known = create_congestion_control(name, max_datagram_size=1200)
    except Exception:
        known = None
    if known is not None and not isinstance(known, Control):
        raise Error(
            f"control `{control}`: the name `{name}` is aioquic's; accepted: another one, as "
            f'register("{control}", name="firstflight-{name}")'
        )

    def made(*, max_datagram_size):
        return Control(control, max_datagram_size=max_datagram_size)

    register_congestion_control(name, made)
    return name


class Control(QuicCongestionControl):
    """A control of firstflight for one connection of aioquic, which makes and calls it.

    Packets of the handshake are in flight, and the control hears of their RTT alone; it begins with
    the first packet of data. aioquic tells no end of an ACK frame: an RTT sample, a loss or the
    question for the window ends it, whichever comes first.
    """

    def __init__(self, control, *, max_datagram_size, checks=False, paced=None):
        self.sender = Sender(control, max_datagram_size, checks, paced)
        self.bytes_in_flight = 0
        self._begun = False
        # When the ACK frame came that aioquic is reporting.
        self._frame_at = None

    # aioquic reads both and sets neither.
    @property
    def congestion_window(self) -> int:  # type: ignore[override]
        self._end_frame()
        return self.sender.cwnd

    @property
    def ssthresh(self) -> int | None:  # type: ignore[override]
        return self.sender.ssthresh

    def on_packet_sent(self, *, packet) -> None:
        self.bytes_in_flight += packet.sent_bytes
        if packet.epoch in (Epoch.ZERO_RTT, Epoch.ONE_RTT):
            self._begun = True
            packet.firstflight = self.sender.on_sent(packet.sent_time, packet.sent_bytes)

    def on_packet_acked(self, *, now, packet) -> None:
        self.bytes_in_flight -= packet.sent_bytes
        if self._frame_at is not None and now > self._frame_at:
            self._end_frame()
        left = getattr(packet, "firstflight", None)
        if left is not None:
            self._frame_at = now
            self.sender.on_acked(left)

    def on_rtt_measurement(self, *, now, rtt) -> None:
        if not self._begun:
            self.sender.on_handshake(now, rtt)
        self._end_frame(rtt)

    def on_packets_lost(self, *, now, packets) -> None:
        self._end_frame()
        lost = self._gone(packets)
        if lost:
            self.sender.on_lost(now, lost)

    def on_persistent_congestion(self) -> None:
        self.sender.on_persistent_congestion()

    def on_packets_expired(self, *, packets) -> None:
        self._end_frame()
        for left in self._gone(packets):
            self.sender.on_expired(left)

    def _gone(self, packets):
        """Takes packets out of the flight; returns the states of those that were reported."""
        states = []
        for packet in packets:
            self.bytes_in_flight -= packet.sent_bytes
            left = getattr(packet, "firstflight", None)
            if left is not None:
                states.append(left)
        return states

    def _end_frame(self, rtt=None):
        if self._frame_at is not None:
            now, self._frame_at = self._frame_at, None
            self.sender.on_frame(now, rtt)


class Pacer(QuicPacketPacer):
    """aioquic's pacer, which follows the rate of a control of ours where that sets one.

    aioquic's own takes no rate, only a window per RTT, and lets a packet more leave with every ACK.
    """

    def __init__(self, sender, *, max_datagram_size):
        super().__init__(max_datagram_size=max_datagram_size)
        self._sender = sender
        # When the next packet may leave.
        self._next_at = 0.0

    # aioquic's returns None too, which its types do not say.
    def next_send_time(self, now) -> float | None:  # type: ignore[override]
        pacing = self._sender.pacing
        if pacing is None:
            return super().next_send_time(now)
        rate, burst = pacing
        at_once = max(0, burst - self._max_datagram_size)
        self._next_at = max(self._next_at, now - at_once / rate)
        return self._next_at if self._next_at > now else None

    def update_after_send(self, now) -> None:
        super().update_after_send(now)
        if self._sender.pacing is not None:
            self._next_at += self._max_datagram_size / self._sender.pacing[0]


def _with_pacer(init):
    """No argument of aioquic's reaches its pacer, so that a connection gets another when it is
    made; connections with other controls keep theirs."""

    @wraps(init)
    def made(self, **words):
        init(self, **words)
        if isinstance(self._cc, Control):
            size = words["max_datagram_size"]
            self._pacer = Pacer(self._cc.sender, max_datagram_size=size)

    return made


QuicPacketRecovery.__init__ = _with_pacer(  # type: ignore[method-assign]
    QuicPacketRecovery.__init__
)
