//! ACK frames of QUIC, which the transport reports packet by packet.

use super::*;

impl Drive {
    /// Gives Scout, 4 ms after the last, a frame that acknowledges `segments`, reported in `parts`
    /// of equal length.
    fn frame(&mut self, segments: u64, parts: u64, rtt: Span) {
        let (length, end) = (MSS * segments / parts, self.view.acked + MSS * segments);
        self.view.now = self.view.now + Span::from_millis(4);
        self.view.rtt.latest = rtt;
        self.view.rtt.min = self.view.rtt.min.min(rtt);
        self.view.delivered += MSS * segments;
        self.view.snd_nxt = self.view.snd_nxt.max(end);
        self.view.in_flight = self.view.snd_nxt - end;
        let mut ack = ack(&self.view, segments);
        let mut decided = None;
        for _ in 0..parts {
            self.view.acked += length;
            (ack.acked, ack.to_come) = (length, end - self.view.acked);
            let step = self.scout.step(&ack, &self.view);
            self.view.window = step.window;
            if step.pacing_set().is_some() {
                self.view.snd_nxt = end + step.window.cwnd;
            }
            decided = decided.or(Some(step));
            (ack.credited, ack.rtt, ack.continues) = (Bytes(0), None, true);
        }
        self.step = decided;
    }
}

/// Scout's decision on the last of `frames`, and its gauges after it. A frame arrives every 4 ms,
/// acknowledges `segments`, and is reported in `parts`; RTTs vary.
fn after_frames(frames: u64, segments: u64, parts: u64) -> (Option<Step>, [u64; 8]) {
    let mut drive = Drive::with(Scout::default());
    for number in 0..frames {
        let rtt = RTT + Span::from_millis(number % 7 + number % 3 * number / 8);
        drive.frame(segments, parts, rtt);
    }
    let Train { begin, acks, .. } = drive.scout.train;
    let mut shown = [begin.0, acks, 0, 0, 0, 0, 0, 0];
    let mut rest = shown[2..].iter_mut();
    drive.scout.gauges(&mut |_, value| *rest.next().unwrap() = value);
    (drive.step, shown)
}

#[test]
fn a_frame_of_quic_s_is_one_ack_of_all_its_packets() {
    for (frames, segments) in (1..=60).flat_map(|frames| [(frames, 2), (frames, 3), (frames, 10)]) {
        let [parts, whole] = [segments, 1].map(|parts| after_frames(frames, segments, parts));
        assert_eq!(parts, whole, "{frames} frames of {segments}");
    }
    let (_, shown) = after_frames(60, 3, 3);
    assert_eq!(shown[4..6], [2, 2], "trains that passed, and that did not");
}
