//! quinn 0.11.

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

use firstflight_control::stack::OF_QUINN as OF_STACK;
use firstflight_quic::quinn as adapter;
use firstflight_runner::Simulator;
use quinn_proto as proto;

use Quic as Itself;

pub use client_and_server::ClientAndServer;
pub use setup::{MIN_PACKET, QuicControl, Setup, SetupError};
pub use transport::constants;

/// quinn's QUIC over the simulator's network.
///
/// ```
/// use firstflight_quic_sim::quinn::QUIC;
/// use firstflight_runner::{Options, Transport as _};
/// use firstflight_scenario::Scenario;
///
/// let text = "controls = ['astart', 'quinn-cubic']\nduration = '2s'";
/// let scenario = Scenario::parse(text, "example.toml").unwrap();
/// let report = QUIC.run(&scenario, &Options::default()).unwrap();
/// assert_eq!(report.runs[0].result.transport, "quic");
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Quic;

/// The simulator, with quinn for the flows that name QUIC.
pub const SIM: Simulator<'static> = Simulator { other_stack: Some(&Quic), by_default: false };

/// quinn in the simulator's time, for every flow that does not name TCP.
pub const QUIC: Simulator<'static> = Simulator { other_stack: Some(&Quic), by_default: true };

/// This transport, as in `--on quic`.
const NAME: &str = "quic";

/// What it is, in what results and logs say.
const OVER: &str = "QUIC";
const VERSION: &str = "quinn 0.11";
