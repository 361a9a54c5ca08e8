//! noq 1.4.

mod seam;

#[path = "per_stack/client_and_server.rs"]
mod client_and_server;
#[path = "per_stack/end.rs"]
mod end;
#[path = "per_stack/files.rs"]
mod files;
#[path = "per_stack/setup.rs"]
mod setup;
#[path = "per_stack/shared.rs"]
mod shared;
#[path = "per_stack/tls.rs"]
mod tls;
#[path = "per_stack/transport.rs"]
mod transport;

use firstflight_control::stack::OF_NOQ as OF_STACK;
use firstflight_quic::noq as adapter;
use firstflight_runner::Simulator;
use noq_proto as proto;

use Noq as Itself;

pub use client_and_server::ClientAndServer;
pub use setup::{MIN_PACKET, QuicControl, Setup, SetupError};
pub use transport::constants;

/// noq's QUIC over the simulator's network.
///
/// ```
/// use firstflight_quic_sim::noq::NOQ;
/// use firstflight_runner::{Options, Transport as _};
/// use firstflight_scenario::Scenario;
///
/// let text = "controls = ['scout', 'noq-cubic']\nduration = '2s'";
/// let scenario = Scenario::parse(text, "example.toml").unwrap();
/// let report = NOQ.run(&scenario, &Options::default()).unwrap();
/// assert_eq!(report.runs[0].result.transport, "noq");
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Noq;

/// noq in the simulator's time, for every flow that does not name TCP.
pub const NOQ: Simulator<'static> = Simulator { other_stack: Some(&Noq), by_default: true };

/// This transport, as in `--on noq`.
const NAME: &str = "noq";

/// What it is, in what results and logs say.
const OVER: &str = "noq";
const VERSION: &str = "noq 1.4";
