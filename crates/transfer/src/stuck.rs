//! Notices a receiver that is alive and makes no progress. It answers PINGs, so QUIC's idle timeout
//! does not end the connection, and the sender must.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout};

use crate::Progress;
use crate::endpoint::slow_disk;
use crate::error::TransferError;
use crate::failure::RECEIVER;

/// How long a sender waits for a receiver that is alive and makes no progress.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StallTimeout {
    /// How long silence may last.
    pub(crate) timeout: Duration,
    /// What is left of the transfer, for messages, with a separator in front.
    pub(crate) kept: &'static str,
}

/// How far the sender is.
#[derive(Debug, Default)]
pub(crate) struct SendProgress {
    /// Bytes of the file that were handed to the connection, those included that were there.
    pub(crate) bytes: AtomicU64,
    /// Whether it waits for its own source.
    pub(crate) waits_for_source: AtomicBool,
}

impl StallTimeout {
    /// Waits for the receiver's next step, for at most twice the timeout (`recv` gives up a silent
    /// sender within that) and the time that a slow disk takes for `bytes`. `what` names the step
    /// in the error.
    ///
    /// # Errors
    /// [`TransferError::Stalled`].
    pub(crate) async fn within<T>(
        self,
        bytes: u64,
        what: &'static str,
        exchange: impl Future<Output = T>,
    ) -> Result<T, TransferError> {
        let waited = self.of(bytes);
        timeout(waited, exchange).await.map_err(|_| self.stalled(what, waited))
    }

    /// Ready when the receiver has reported no progress for too long, or more than was sent.
    pub(crate) async fn ends(
        self,
        sent_so_far: &SendProgress,
        progress: watch::Receiver<Progress>,
    ) -> TransferError {
        let (mut before, mut since) = (progress.borrow().bytes, Instant::now());
        loop {
            sleep(INTERVAL).await;
            let taken = progress.borrow().bytes;
            let sent = sent_so_far.bytes.load(Ordering::Relaxed);
            if taken > sent {
                let problem = format!("it has {taken} bytes, it says, of {sent} that were sent");
                return TransferError::Protocol { peer: RECEIVER, problem };
            }
            let is_idle = taken == sent && sent_so_far.waits_for_source.load(Ordering::Relaxed);
            if taken != before || is_idle {
                (before, since) = (taken, Instant::now());
                continue;
            }
            let waited = self.of(sent - taken);
            if since.elapsed() >= waited {
                return self.stalled("took", waited);
            }
        }
    }

    fn of(self, bytes: u64) -> Duration {
        self.timeout.saturating_mul(2).saturating_add(slow_disk(bytes))
    }

    fn stalled(self, what: &'static str, waited: Duration) -> TransferError {
        let kept = self.kept.to_owned();
        TransferError::Stalled { peer: RECEIVER, what, waited, kept }
    }
}

/// As often as the receiver reports its progress.
const INTERVAL: Duration = Duration::from_millis(250);
