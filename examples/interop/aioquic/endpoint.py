"""aioquic as server and as client of the QUIC interop runner: HTTP/0.9 over QUIC.

A line "GET /name" on a stream asks for a file of /www, whose bytes are the answer. The environment
says the rest, as the runner sets it. CONTROL is one of aioquic's, or one of firstflight's, whose
package is then beside aioquic.
"""

import asyncio
import os
import ssl
from pathlib import Path
from urllib.parse import urlsplit

from aioquic.asyncio import QuicConnectionProtocol, connect, serve
from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.events import StreamDataReceived
from aioquic.quic.logger import QuicFileLogger

WWW, DOWNLOADS, CERTS = Path("/www"), Path("/downloads"), Path("/certs")
WINDOW = 1 << 30
"""Flow control never limits."""


class Server(QuicConnectionProtocol):
    """Answers when a request is whole."""

    def __init__(self, *arguments, **words):
        super().__init__(*arguments, **words)
        self.requests = {}

    def quic_event_received(self, event):
        if not isinstance(event, StreamDataReceived):
            return
        asked = self.requests.pop(event.stream_id, b"") + event.data
        if not event.end_stream:
            self.requests[event.stream_id] = asked
            return
        name = Path(asked.decode().split()[1]).name
        data = (WWW / name).read_bytes()
        self._quic.send_stream_data(event.stream_id, data, end_stream=True)
        self.transmit()


async def answer(configuration):
    logs = Path(os.environ["QLOGDIR"])
    logs.mkdir(parents=True, exist_ok=True)
    configuration.quic_logger = QuicFileLogger(str(logs))
    configuration.load_cert_chain(CERTS / "cert.pem", CERTS / "priv.key")
    await serve("0.0.0.0", 443, configuration=configuration, create_protocol=Server)
    await asyncio.Future()


async def fetch(configuration):
    configuration.load_verify_locations(CERTS / "ca.pem")
    requests = [urlsplit(one) for one in os.environ["REQUESTS"].split()]
    server = requests[0]

    async def one(client, path):
        reader, writer = await client.create_stream()
        writer.write(f"GET {path}\r\n".encode())
        writer.write_eof()
        with open(DOWNLOADS / Path(path).name, "wb") as file:
            while piece := await reader.read(1 << 20):
                file.write(piece)

    async with connect(server.hostname, server.port, configuration=configuration) as client:
        await asyncio.gather(*(one(client, request.path) for request in requests))


def algorithm(control):
    """The name by which aioquic knows a control."""
    if control in ("reno", "cubic"):
        return control
    import firstflight.aioquic

    return firstflight.aioquic.register(control)


def main():
    is_client = os.environ["ROLE"] == "client"
    configuration = QuicConfiguration(
        is_client=is_client,
        alpn_protocols=["hq-interop"],
        congestion_control_algorithm=algorithm("cubic" if is_client else os.environ["CONTROL"]),
        max_data=WINDOW,
        max_stream_data=WINDOW,
        verify_mode=ssl.CERT_REQUIRED if is_client else None,
    )
    asyncio.run((fetch if is_client else answer)(configuration))


main()
