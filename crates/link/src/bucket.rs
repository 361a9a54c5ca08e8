//! A token bucket: what a shaper and a policer share.

/// A bucket of tokens, which begins full. Tokens arrive at a constant rate up to its size.
#[derive(Clone, Debug)]
pub(crate) struct Bucket {
    rate_bps: u64,
    bytes: u64,
    /// What is in the bucket, in bytes times 8e9: bits of a second in nanoseconds.
    tokens: u128,
    /// When that was so, in nanoseconds.
    at: u64,
}

impl Bucket {
    /// One that holds `bytes` and fills at `rate_bps` bits per second.
    pub(crate) fn new(rate_bps: u64, bytes: u64) -> Self {
        Self { rate_bps, bytes, tokens: tokens_of(bytes), at: 0 }
    }

    /// Its rate, in bits per second, and how much it holds when it is full.
    pub(crate) fn size(&self) -> (u64, u64) {
        (self.rate_bps, self.bytes)
    }

    /// Takes `bytes` out at `now`. Where it holds less it takes nothing, and the error is in how
    /// many nanoseconds it will hold enough.
    pub(crate) fn take(&mut self, bytes: u64, now: u64) -> Result<(), u64> {
        let filled = u128::from(self.rate_bps) * u128::from(now.saturating_sub(self.at));
        let (held, needed) = (self.tokens + filled, tokens_of(bytes));
        (self.tokens, self.at) = (held.min(tokens_of(self.bytes)), now);
        match self.tokens.checked_sub(needed) {
            Some(left) => self.tokens = left,
            None => {
                let wait = (needed - self.tokens).div_ceil(u128::from(self.rate_bps.max(1)));
                return Err(u64::try_from(wait).unwrap_or(u64::MAX));
            }
        }
        Ok(())
    }
}

/// Exact: a bit per second times a nanosecond is the unit.
fn tokens_of(bytes: u64) -> u128 {
    u128::from(bytes) * 8_000_000_000
}
