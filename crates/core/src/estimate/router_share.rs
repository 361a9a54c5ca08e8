//! TCP-EBN's estimate is not its own: the routers of the path report the rate they have for the
//! connection (Dutta and Zhang, "An early bandwidth notification (EBN) architecture for dynamic
//! bandwidth environments", ICC 2002).
//!
//! Published, in the abstract and in the Agile Probing paper (section VI): routers feed a bandwidth
//! estimate back to the sender, which sets cwnd by it. Inferred: the window is what that rate moves
//! in the smallest RTT, in whole segments and at least two, so that no queue is asked for; and that
//! it leaves evenly over that RTT, because the routers said nothing of bursts.

use crate::feedback::Feedback;
use crate::policy::Step;
use crate::units::{Bytes, Rate, Span};
use crate::view::{View, Window};

/// The newest rate reported.
#[derive(Clone, Copy, Debug, Default)]
pub struct RouterShare {
    rate: Option<Rate>,
}

impl RouterShare {
    /// Takes feedback in.
    pub fn on_feedback(&mut self, feedback: &Feedback) {
        if let Feedback::Share(rate) = *feedback {
            self.rate = Some(rate);
        }
    }

    /// The rate; zero before the first.
    pub fn rate(&self) -> Rate {
        self.rate.unwrap_or_default()
    }

    /// The window it fills, once an RTT is known too.
    pub fn window(&self, view: &View) -> Option<Bytes> {
        // Ours: the abstract says only that cwnd follows the rate reported.
        let rate = self.rate.filter(|_| view.rtt.min != Span::MAX)?;
        Some(rate.over(view.rtt.min).whole_segments(view.mss).max(view.mss * MIN_SEGMENTS))
    }

    /// That window, sent evenly over the smallest RTT.
    pub fn step(&self, view: &View) -> Option<Step> {
        let cwnd = self.window(view)?;
        Some(Window { cwnd, ..view.window }.hold().paced(cwnd.per(view.rtt.min)))
    }
}

/// The smallest window.
const MIN_SEGMENTS: u64 = 2;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pacing::Pacing;
    use crate::testing::{MSS, view};

    #[test]
    fn the_window_is_the_rate_over_the_smallest_rtt_in_whole_segments() {
        let mut share = RouterShare::default();
        let view = view(10, Bytes::MAX);
        assert_eq!((share.window(&view), share.rate()), (None, Rate(0)));
        share.on_feedback(&Feedback::Change(8_000));
        assert_eq!(share.window(&view), None, "that is another system's");
        share.on_feedback(&Feedback::Share(Rate(5_000_000)));
        assert_eq!(share.window(&view), Some(MSS * 500));
        share.on_feedback(&Feedback::Share(Rate(2_009_999)));
        assert_eq!(share.window(&view), Some(MSS * 200));
        share.on_feedback(&Feedback::Share(Rate(0)));
        let least = share.step(&view).map(|step| (step.window.cwnd, step.pacing_set()));
        assert_eq!(least, Some((MSS * 2, Some(Pacing::at(Rate(20_000))))));
    }
}
