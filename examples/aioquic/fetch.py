"""A client of serve.py, which asks for N bytes on one stream: fetch.py ADDRESS PORT N."""

import asyncio
import ssl
import sys

from aioquic.asyncio import connect
from aioquic.quic.configuration import QuicConfiguration

WINDOW = 1 << 30
"""Flow control never limits."""


async def main(address, port, size):
    configuration = QuicConfiguration(
        alpn_protocols=["bytes"],
        verify_mode=ssl.CERT_NONE,
        max_data=WINDOW,
        max_stream_data=WINDOW,
    )
    async with connect(address, int(port), configuration=configuration) as client:
        reader, writer = await client.create_stream()
        writer.write(size.encode())
        writer.write_eof()
        came = 0
        while piece := await reader.read(1 << 20):
            came += len(piece)
    sys.exit(came != int(size))


asyncio.run(main(*sys.argv[1:]))
