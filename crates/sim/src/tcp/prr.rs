//! Proportional rate reduction (RFC 9937 section 6): while a loss is repaired, what leaves follows
//! what arrives, so that the window comes down smoothly and retransmissions do not meet the full
//! buffer that lost the first ones. All amounts are packets.

/// The state of one recovery.
#[derive(Debug, Default)]
pub(super) struct Prr {
    /// RecoverFS: what recovery began with.
    flight: u32,
    /// Delivered since.
    delivered: u32,
    /// Sent since.
    out: u32,
    /// What may leave now: SndCnt.
    pub(super) allowance: u32,
}

impl Prr {
    /// Recovery begins with this many packets to be delivered.
    pub(super) fn begin(&mut self, flight: u32) {
        *self = Self { flight: flight.max(1), ..Self::default() };
    }

    /// An ACK reports that `newly` packets more were delivered and leaves `pipe` in the network;
    /// recovery is to end with `target`. `safe`: it advances, and shows no further loss.
    pub(super) fn on_ack(&mut self, newly: u32, pipe: u32, target: u32, safe: bool) {
        self.delivered += newly;
        let count = if pipe > target {
            // Proportional: CEIL(prr_delivered * ssthresh / RecoverFS) - prr_out.
            let share = u64::from(self.delivered) * u64::from(target);
            let share = share.div_ceil(u64::from(self.flight.max(1)));
            u32::try_from(share).unwrap_or(u32::MAX).saturating_sub(self.out)
        } else {
            // No more than was delivered (CRB), and a packet more for a safe ACK (SSRB).
            let owed = self.delivered.saturating_sub(self.out).max(newly);
            (owed + u32::from(safe)).min(target - pipe)
        };
        // The first retransmission always leaves.
        self.allowance = count.max(u32::from(self.out == 0));
    }

    /// A packet left.
    pub(super) fn on_sent(&mut self) {
        self.out += 1;
        self.allowance = self.allowance.saturating_sub(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One loss in a window of 20 that is halved: a packet leaves for every second one delivered.
    #[test]
    fn the_window_comes_down_in_proportion() {
        let mut prr = Prr::default();
        prr.begin(20);
        let mut pipe = 19;
        let mut sent = Vec::new();
        for _ in 0..18 {
            pipe -= 1;
            prr.on_ack(1, pipe, 10, false);
            let count = prr.allowance;
            (0..count).for_each(|_| prr.on_sent());
            pipe += count;
            sent.push(count);
        }
        assert_eq!(sent[..6], [1, 0, 1, 0, 1, 0]);
        assert_eq!(pipe, 10);
    }

    /// Half the window is lost at once: nothing leaves in a burst, one more than was delivered
    /// once repairs are acknowledged.
    #[test]
    fn after_heavy_loss_the_window_is_filled_without_a_burst() {
        let mut prr = Prr::default();
        prr.begin(20);
        prr.on_ack(1, 4, 10, false);
        assert_eq!(prr.allowance, 1);
        prr.on_sent();
        prr.on_ack(1, 4, 10, true);
        assert_eq!(prr.allowance, 2);
        prr.on_sent();
        prr.on_sent();
        prr.on_ack(1, 9, 10, true);
        assert_eq!(prr.allowance, 1);
    }
}
