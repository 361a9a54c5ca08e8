//! Estimators, one file each. They observe; policies that own them decide.

pub mod ack_history;
pub mod ack_spacing;
pub mod ack_train;
pub mod bbr_bounds;
pub(crate) mod bbr_full_pipe;
pub mod bbr_model;
pub mod bbr_rtt;
pub mod chirp;
pub mod delivery_rate;
pub mod ere;
mod ere_knobs;
pub mod gap_compensated;
pub mod granted_change;
pub(crate) mod hystart_round;
mod instability;
pub mod load_gauge;
pub mod loss_history;
pub mod mark_share;
pub mod packet_pair;
pub mod rate_per_rtt;
pub mod rho;
pub mod router_share;
pub mod rtt_floor;
pub mod search_bins;
pub mod vegas_diff;
