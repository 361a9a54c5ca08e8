"""Hostile clients of `firstflight recv`, over aioquic.

    client.py PORT silent COUNT SECONDS        handshakes, and no message
    client.py PORT offer PROOF NAME SIZE SEND  an offer, then so many bytes of data

Prints one JSON document.
"""

import asyncio
import json
import ssl
import sys

from aioquic.asyncio import QuicConnectionProtocol, connect
from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.events import ConnectionTerminated, StreamDataReceived


class Client(QuicConnectionProtocol):
    """Collects the replies of the receiver."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.received = b""
        self.over = asyncio.Event()
        self.changed = asyncio.Event()

    def quic_event_received(self, event):
        if isinstance(event, StreamDataReceived):
            self.received += event.data
        elif isinstance(event, ConnectionTerminated):
            self.over.set()
        self.changed.set()

    def replies(self):
        found, rest = [], self.received
        while len(rest) >= 4:
            length = int.from_bytes(rest[:4], "big")
            if len(rest) < 4 + length:
                break
            found.append(json.loads(rest[4 : 4 + length]))
            rest = rest[4 + length :]
        return found

    def send(self, stream, message):
        text = json.dumps(message).encode()
        self._quic.send_stream_data(stream, len(text).to_bytes(4, "big") + text)
        self.transmit()

    async def answer(self, count):
        while len(self.replies()) < count and not self.over.is_set():
            self.changed.clear()
            await asyncio.wait_for(self.changed.wait(), 5)
        return self.replies()


def configuration():
    found = QuicConfiguration(is_client=True, alpn_protocols=["firstflight-file/3"])
    found.verify_mode = ssl.CERT_NONE
    found.server_name = "firstflight"
    return found


def client(port):
    return connect("127.0.0.1", port, configuration=configuration(), create_protocol=Client)


async def silent(port, count, seconds):
    async def one():
        async with client(port) as connected:
            await connected.wait_connected()
            try:
                await asyncio.wait_for(connected.over.wait(), seconds)
            except asyncio.TimeoutError:
                pass
            return 1

    done = await asyncio.gather(*[one() for _ in range(count)], return_exceptions=True)
    return {"connected": sum(one for one in done if isinstance(one, int))}


async def offer(port, proof, name, size, send):
    async with client(port) as connected:
        await connected.wait_connected()
        quic = connected._quic
        stream = quic.get_next_available_stream_id()
        proof = None if proof == "none" else [0] * 32
        connected.send(stream, {"version": 3, "proof": proof, "name": name, "size": size})
        replies = await connected.answer(1)
        if send:
            connected.send(stream, {"start": {"from": 0}})
            while send > 0:
                piece = min(send, 1 << 20)
                data = quic.get_next_available_stream_id(is_unidirectional=True)
                quic.send_stream_data(data, bytes(piece), end_stream=True)
                send -= piece
            connected.transmit()
            try:
                await asyncio.wait_for(connected.over.wait(), 5)
            except asyncio.TimeoutError:
                pass
        return {
            "replies": replies,
            "window": quic._remote_max_data,
            "streams": quic._remote_max_streams_uni,
        }


def main():
    port, what, *words = sys.argv[1:]
    if what == "silent":
        count, seconds = words
        work = silent(int(port), int(count), int(seconds))
    else:
        proof, name, size, send = words
        work = offer(int(port), proof, name, int(size), int(send))
    print(json.dumps(asyncio.run(work)))


main()
