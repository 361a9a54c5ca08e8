"""Controls of firstflight in aioquic: what its adapter promises, on a path and over sockets."""

import asyncio
import itertools
import re
import socket
import subprocess
import sys
from pathlib import Path

import firstflight as ff
import pytest

pytest.importorskip("aioquic", reason="aioquic is not installed: pip install aioquic")

import firstflight.aioquic as adapter
from aioquic.asyncio import QuicConnectionProtocol, connect, serve
from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.congestion.base import register_congestion_control
from aioquic.quic.events import StreamDataReceived
from aioquic.quic.packet import QuicPacketType
from aioquic.quic.packet_builder import QuicSentPacket
from aioquic.tls import Epoch
from firstflight._aioquic_path import certificate

ROOT = Path(__file__).parents[2]
SIZE = 400_000
PATH = {"rate_bps": 10e6, "rtt_s": 0.04, "size_bytes": SIZE}


def checked(control, *, buffer_packets=1000, paced=None, **path):
    """A transfer under a control that checks what it is told, with aioquic's own totals."""
    totals = {"sent": 0, "acked": 0, "lost": 0, "expired": 0}

    class Counted(adapter.Control):
        def on_packet_sent(self, *, packet):
            super().on_packet_sent(packet=packet)
            count("sent", [packet])

        def on_packet_acked(self, *, now, packet):
            super().on_packet_acked(now=now, packet=packet)
            count("acked", [packet])

        def on_packets_lost(self, *, now, packets):
            packets = list(packets)
            super().on_packets_lost(now=now, packets=packets)
            count("lost", packets)

        def on_packets_expired(self, *, packets):
            packets = list(packets)
            super().on_packets_expired(packets=packets)
            count("expired", packets)

    def count(key, packets):
        totals[key] += sum(one.sent_bytes for one in packets if hasattr(one, "firstflight"))

    def made(*, max_datagram_size):
        return Counted(control, max_datagram_size=max_datagram_size, checks=True, paced=paced)

    register_congestion_control("checked", made)
    done = adapter.transfer("checked", buffer_packets=buffer_packets, **PATH | path)
    report = done.control.sender.report()
    assert report.pop("wrong") is None
    assert done.seconds is not None
    assert report["begins"] == report["handshakes"] == 1
    # A frame that arrives with the last ACK may still be open.
    assert done.control.congestion_window >= 2400
    expired = totals.pop("expired")
    assert totals == {"sent": report["sent"], "acked": report["credited"], "lost": report["lost"]}
    left = totals["sent"] - totals["acked"] - totals["lost"] - expired
    assert done.control.bytes_in_flight == done.control.sender.in_flight == left
    return done, report


def test_without_loss_everything_promised_arrives():
    done, report = checked("hystart-pp")
    assert (done.drops, report["losses"]) == (0, 0)
    assert report["acked"] == report["credited"]
    assert report["ack_parts"] > report["acks"] > 50, "frames acknowledge several packets"
    assert report["rtts"] > 0.9 * report["acks"]


def test_every_loss_is_reported_once_with_its_gaps():
    done, report = checked("slow-start+newreno", buffer_packets=10)
    assert done.drops > 10
    assert report["losses"] > 0 and report["gaps"] > 1
    assert report["recovery_steps"] == 0


def test_a_packet_that_aioquic_gives_up_is_neither_in_flight_nor_lost():
    control = adapter.Control("hystart-pp", max_datagram_size=1200, checks=True)
    kind = {"epoch": Epoch.ONE_RTT, "packet_type": QuicPacketType.ONE_RTT}
    flags = {"in_flight": True, "is_ack_eliciting": True, "is_crypto_packet": False}
    packet = QuicSentPacket(packet_number=1, sent_time=1.0, sent_bytes=1200, **kind, **flags)
    control.on_packet_sent(packet=packet)
    assert control.bytes_in_flight == control.sender.in_flight == 1200
    control.on_packets_expired(packets=iter([packet]))
    assert control.bytes_in_flight == control.sender.in_flight == 0
    assert control.sender.report()["lost"] == 0
    assert control.congestion_window == 12_000


def test_a_rest_does_not_count_on_cubics_curve():
    """RFC 9438 section 5.8; aioquic's own CUBIC begins anew after two seconds of rest."""
    number = itertools.count()
    flags = {"in_flight": True, "is_ack_eliciting": True, "is_crypto_packet": False}
    kind = {"epoch": Epoch.ONE_RTT, "packet_type": QuicPacketType.ONE_RTT, **flags}

    def grown(rest):
        control = adapter.Control("cubic", max_datagram_size=1200)

        def go_round(begins, loses):
            packets = [
                QuicSentPacket(
                    packet_number=next(number), sent_time=begins, sent_bytes=1200, **kind
                )
                for _ in range(control.congestion_window // 1200)
            ]
            for packet in packets:
                control.on_packet_sent(packet=packet)
            if loses:
                control.on_packets_lost(now=begins + 0.1, packets=[packets.pop()])
            for packet in packets:
                control.on_packet_acked(now=begins + 0.1, packet=packet)
            control.on_rtt_measurement(now=begins + 0.1, rtt=0.1)
            return control.congestion_window / 1200

        before = [go_round(1 + turn / 10, turn == 4) for turn in range(10)][-1]
        return [go_round(2 + rest + turn / 10, False) for turn in range(10)][-1] - before

    assert grown(0.0) == pytest.approx(grown(3.0), abs=1)


def test_a_start_up_that_lands_decides_in_its_recovery():
    _, report = checked("landed(slow-start)+newreno", buffer_packets=40)
    assert report["recovery_steps"] > 5


def test_a_rate_that_start_up_sets_is_what_leaves():
    for rate in (100_000, 500_000):
        done, _ = checked("slow-start", paced=rate)
        assert 0.95 * SIZE / rate < done.seconds < 1.1 * SIZE / rate


def test_equal_runs_are_equal_and_controls_differ():
    path = {**PATH, "buffer_packets": 20}

    def figures(name):
        done = adapter.transfer(name, **path)
        exit = getattr(done.control, "sender", None) and done.control.sender.exit
        return done.seconds, done.began_s, done.packets, done.drops, exit

    names = [adapter.register(name) for name in ("hystart-pp", "slow-start", "hoe")]
    first = [figures(name) for name in [*names, "reno"]]
    assert first == [figures(name) for name in [*names, "reno"]]
    assert len(set(first)) == 4
    assert first[1][4][0] == "loss" and first[2][4][0] == "ssthresh"


def test_aioquics_own_names_stay_its_own_and_wrong_controls_are_refused():
    with pytest.raises(ff.Error, match="the name `cubic` is aioquic's; accepted: another one"):
        adapter.register("cubic")
    assert adapter.register("cubic", name="firstflight-cubic") == "firstflight-cubic"
    assert adapter.register("hystart-pp") == adapter.register("hystart-pp") == "hystart-pp"
    with pytest.raises(ff.Error, match=r"hystrat.*did you mean `hystart`"):
        adapter.register("hystrat")
    with pytest.raises(ff.Error, match="aioquic"):
        adapter.register("quick-start")
    with pytest.raises(ff.Error, match="rtt_s: found 0; accepted"):
        adapter.transfer("reno", **PATH | {"rtt_s": 0}, buffer_packets=10)


class Twenty(ff.Startup):
    """Slow start up to twenty packets."""

    partner = "newreno"

    def on_ack(self, view):
        return ff.Leave() if view.cwnd >= 20 else view.cwnd + view.acked


class Broken(ff.Startup):
    """It raises on its first ACK."""

    def on_ack(self, view):
        raise LookupError("mine")


def test_a_start_up_in_python_runs_there_and_says_what_it_raised():
    done = adapter.transfer(adapter.register(Twenty), **PATH, buffer_packets=1000)
    why, _, cwnd = done.control.sender.exit
    assert (why, cwnd // 1200) == ("heuristic", 20)
    with pytest.raises(ff.Error, match=r"broken.*on_ack.*LookupError.*mine"):
        adapter.transfer(adapter.register(Broken), **PATH, buffer_packets=1000)


def test_over_sockets():
    class Server(QuicConnectionProtocol):
        def quic_event_received(self, event):
            if isinstance(event, StreamDataReceived) and event.end_stream:
                self._quic.send_stream_data(event.stream_id, bytes(SIZE), end_stream=True)
                self.transmit()

    made = []

    def recorded(*, max_datagram_size):
        made.append(adapter.Control("scout", max_datagram_size=max_datagram_size, checks=True))
        return made[-1]

    async def fetch():
        register_congestion_control("recorded", recorded)
        key = certificate()
        theirs = QuicConfiguration(is_client=False, alpn_protocols=["bytes"])
        theirs.congestion_control_algorithm = "recorded"
        theirs.certificate, theirs.private_key = key
        ours = QuicConfiguration(alpn_protocols=["bytes"], verify_mode=0)
        server = await serve("127.0.0.1", 0, configuration=theirs, create_protocol=Server)
        port = server._transport.get_extra_info("sockname")[1]
        async with connect("127.0.0.1", port, configuration=ours) as client:
            reader, writer = await client.create_stream()
            writer.write_eof()
            came = await asyncio.wait_for(reader.read(), 30)
        server.close()
        return len(came)

    assert asyncio.run(fetch()) == SIZE
    report = made[-1].sender.report()
    assert report["wrong"] is None and report["begins"] == 1
    assert report["sent"] > SIZE


def test_the_page_serves_over_sockets(tmp_path):
    page = (ROOT / "docs/python.md").read_text()
    lines = re.findall(r"^python (examples/aioquic/\S+ .*?)(?: &)?$", page, re.MULTILINE)
    with socket.socket(type=socket.SOCK_DGRAM) as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    scripts = [line.replace("4433", port).split() for line in lines]
    serve, fetch = ([sys.executable, ROOT / name, *words] for name, *words in scripts)
    with subprocess.Popen(serve, cwd=tmp_path) as server:
        try:
            # The client repeats its first packet until the server is there.
            subprocess.run(fetch, timeout=30, check=True)
        finally:
            server.terminate()
