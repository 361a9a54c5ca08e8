//! The data on their way: one stream after another, each of a mebibyte but the last, which is
//! shorter.
//!
//! A receiver that holds more than 1024 pieces of one stream closes the connection (quinn-proto
//! 0.11.19, "too many gaps in stream buffer"). If every second packet of a flight is lost, each two
//! packets leave a piece. A mebibyte is 874 packets of QUIC's smallest size, so no pattern of
//! losses reaches that limit. The receiver reads the streams in the order in which they were
//! opened.

use bytes::Bytes;
use quinn::{Connection, ConnectionError, RecvStream, SendStream, StoppedError, VarInt};
use tokio::task::JoinSet;

use crate::failure::Cause;

/// Bytes of a stream that is not the last.
pub(crate) const STREAM: usize = 1024 * 1024;

/// How many streams a window of so many bytes covers, those begun and ended in it included.
pub(crate) fn streams_of(window: u64) -> VarInt {
    VarInt::from_u64(window / STREAM as u64 + 2).unwrap_or(VarInt::MAX)
}

/// The sender's side.
pub(crate) struct Outgoing<'a> {
    connection: &'a Connection,
    /// The stream being written and the room left on it.
    open: Option<(SendStream, usize)>,
    /// Streams that are written but not yet acknowledged.
    unacknowledged: JoinSet<Result<Option<VarInt>, StoppedError>>,
}

/// Why data were not sent.
pub(crate) enum Unsent {
    /// The connection is lost.
    Lost(ConnectionError),
    /// The receiver takes no more.
    Stopped,
}

impl<'a> Outgoing<'a> {
    pub(crate) fn new(connection: &'a Connection) -> Self {
        Self { connection, open: None, unacknowledged: JoinSet::new() }
    }

    /// Hands a block to the connection.
    pub(crate) async fn write(&mut self, mut block: Bytes) -> Result<(), Unsent> {
        while !block.is_empty() {
            let (mut stream, room) = self.stream().await?;
            let piece = block.split_to(block.len().min(room));
            let room = room - piece.len();
            stream.write_chunk(piece).await.map_err(unsent)?;
            if room > 0 {
                self.open = Some((stream, room));
            } else {
                self.finish(stream)?;
            }
        }
        Ok(())
    }

    /// Waits until the last byte is acknowledged.
    pub(crate) async fn end(mut self) -> Result<(), Unsent> {
        let (stream, _) = self.stream().await?;
        self.finish(stream)?;
        while let Some(acknowledged) = self.unacknowledged.join_next().await {
            taken(acknowledged)?;
        }
        Ok(())
    }

    /// The stream to write on.
    async fn stream(&mut self) -> Result<(SendStream, usize), Unsent> {
        match self.open.take() {
            Some(open) => Ok(open),
            None => Ok((self.connection.open_uni().await.map_err(Unsent::Lost)?, STREAM)),
        }
    }

    fn finish(&mut self, mut stream: SendStream) -> Result<(), Unsent> {
        // It was finished by nobody else, so this cannot fail.
        let _ = stream.finish();
        self.unacknowledged.spawn(stream.stopped());
        while let Some(acknowledged) = self.unacknowledged.try_join_next() {
            taken(acknowledged)?;
        }
        Ok(())
    }
}

fn unsent(error: impl Cause) -> Unsent {
    error.cause().map_or(Unsent::Stopped, Unsent::Lost)
}

/// Whether a stream arrived.
fn taken<E>(waited: Result<Result<Option<VarInt>, StoppedError>, E>) -> Result<(), Unsent> {
    match waited {
        Ok(Ok(None)) => Ok(()),
        Ok(Err(error)) => Err(unsent(error)),
        Ok(Ok(Some(_))) | Err(_) => Err(Unsent::Stopped),
    }
}

/// The receiver's side.
pub(crate) struct Incoming<'a> {
    connection: &'a Connection,
    /// The stream being read and the room left on it.
    open: Option<(RecvStream, usize)>,
}

impl<'a> Incoming<'a> {
    pub(crate) fn new(connection: &'a Connection) -> Self {
        Self { connection, open: None }
    }

    /// What comes next; `None` after the last. Nothing is lost if nobody waits to the end.
    ///
    /// # Errors
    /// What the connection failed with, or how the sender broke the protocol.
    pub(crate) async fn next(&mut self) -> Result<Option<Bytes>, Result<ConnectionError, String>> {
        loop {
            let (stream, room) = match &mut self.open {
                Some(open) => open,
                open => {
                    let stream = self.connection.accept_uni().await.map_err(Cause::cause)?;
                    open.insert((stream, STREAM))
                }
            };
            match stream.read_chunk(usize::MAX, true).await.map_err(Cause::cause)? {
                Some(chunk) if chunk.bytes.len() > *room => {
                    return Err(Err(format!("a stream of more than {STREAM} bytes")));
                }
                Some(chunk) => {
                    *room -= chunk.bytes.len();
                    return Ok(Some(chunk.bytes));
                }
                None if *room > 0 => return Ok(None),
                None => self.open = None,
            }
        }
    }
}
