"""A QUIC server of aioquic: who asks for N bytes on a stream gets them.

serve.py ADDRESS PORT CONTROL FOLDER, where FOLDER is for qlogs. CONTROL is `reno` or `cubic` of
aioquic, or one of firstflight's, whose package is then beside aioquic.
"""

import asyncio
import sys
from datetime import datetime
from pathlib import Path

from aioquic.asyncio import QuicConnectionProtocol, serve
from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.events import StreamDataReceived
from aioquic.quic.logger import QuicFileLogger
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID


class Sender(QuicConnectionProtocol):
    def quic_event_received(self, event):
        if isinstance(event, StreamDataReceived) and event.end_stream:
            self._quic.send_stream_data(event.stream_id, bytes(int(event.data)), end_stream=True)
            self.transmit()


def certificate():
    """A key and a certificate that it has signed itself."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "server")])
    made = x509.CertificateBuilder(name, name, key.public_key(), 1)
    made = made.not_valid_before(datetime(2020, 1, 1)).not_valid_after(datetime(2040, 1, 1))
    return made.sign(key, hashes.SHA256()), key


async def main(address, port, control, folder):
    if control not in ("reno", "cubic"):
        import firstflight.aioquic

        control = firstflight.aioquic.register(control)
    Path(folder).mkdir(parents=True, exist_ok=True)
    configuration = QuicConfiguration(
        is_client=False,
        alpn_protocols=["bytes"],
        congestion_control_algorithm=control,
        quic_logger=QuicFileLogger(folder),
    )
    configuration.certificate, configuration.private_key = certificate()
    await serve(address, int(port), configuration=configuration, create_protocol=Sender)
    await asyncio.Future()


asyncio.run(main(*sys.argv[1:]))
