//! Flows over another transport than the simulator's TCP, inside the same network.

use std::fmt;
use std::ops::RangeInclusive;

use firstflight_control::stack::{OF_NOQ, OF_QUINN};
use firstflight_control::{Control, ControlProblem};
use firstflight_core::units::Span;
use firstflight_link::stream;
use firstflight_scenario::{
    Carrier, Complete, ControlSpec, Plan, Recovery, Scenario, Size, complete,
};
use firstflight_sim::{Ends, FlowSpec, Network};
use rand_pcg::rand_core::Rng;

use crate::{Logs, RunError, Simulator};

/// A transport of another protocol, such as QUIC, over the simulator's network.
pub trait OtherStack: fmt::Debug + Sync {
    /// Its name in results.
    fn name(&self) -> &'static str;

    /// The prefix of the names of controls that only it has; quinn's by default.
    fn prefix(&self) -> &'static str {
        OF_QUINN
    }

    /// The sizes of packet that it can send, in bytes: a scenario that says nothing gets the
    /// smallest.
    fn packets(&self) -> RangeInclusive<u64>;

    /// A control that only this transport has, by its name; `None` for any other name.
    ///
    /// # Errors
    /// A name that is nearly one of its own.
    fn own_control(&self, spec: &ControlSpec) -> Result<Option<&'static str>, ControlProblem>;

    /// Checks that a flow can have a control, without making it.
    ///
    /// # Errors
    /// What is wrong with it, or what it needs and this transport does not provide.
    fn check(&self, _spec: &ControlSpec) -> Result<(), ControlProblem> {
        Ok(())
    }

    /// What readers of a result under this control must know, if anything; of flows of this group.
    fn caution(&self, _spec: &ControlSpec, _group: &complete::Flow) -> Option<String> {
        None
    }

    /// The ends of one flow.
    ///
    /// # Errors
    /// What is wrong with the flow, and what is accepted.
    fn ends(&self, flow: &OtherFlow<'_>) -> Result<Box<dyn Ends>, String>;
}

/// What the ends of a flow are made from.
pub struct OtherFlow<'a> {
    /// What the run is called; its random seed is the scenario's.
    pub run: &'a str,
    /// The flow's place among all of the run, from 0.
    pub place: usize,
    /// Its control as written.
    pub control: &'a ControlSpec,
    /// Its group, as complete.
    pub group: &'a complete::Flow,
    /// Its route and times.
    pub spec: &'a FlowSpec,
    /// The scenario.
    pub complete: &'a Complete,
    /// What its path holds, buffers included, in bytes.
    pub path_bytes: u64,
    /// A seed of its own.
    pub seed: u64,
    /// Where its stack writes a log of its own, if it is to.
    pub logs: Option<&'a Logs>,
}

/// Who carries a group of flows under a control: `None` is the simulator's TCP.
pub(crate) fn carrier<'a>(
    on: Simulator<'a>,
    written: Option<Carrier>,
    spec: &ControlSpec,
) -> Result<Option<&'a dyn OtherStack>, RunError> {
    let own = spec.startup.name.starts_with(on.other_stack.map_or(OF_QUINN, OtherStack::prefix));
    let wanted = own || written == Some(Carrier::Quic) || written.is_none() && on.by_default;
    match (wanted, on.other_stack) {
        (false, _) => Ok(None),
        (true, Some(other)) if own && written == Some(Carrier::Tcp) => {
            Err(RunError::Input(format!(
                "control `{}`: {}'s own, on a flow with transport = \"tcp\"; accepted: \"quic\"",
                spec.text,
                other.prefix().trim_end_matches('-')
            )))
        }
        (true, Some(other)) => Ok(Some(other)),
        (true, None) => Err(RunError::Input(format!(
            "control `{}`: runs over QUIC only; accepted here: flows over TCP",
            spec.text
        ))),
    }
}

/// The control that a plan names: one of the core's, or one that only `on` has.
pub(crate) fn control(on: Simulator<'_>, spec: &ControlSpec) -> Result<Control, ControlProblem> {
    let own = on.other_stack.map_or(Ok(None), |other| other.own_control(spec))?;
    let Some(name) = own else { return Control::resolve(spec).map_err(hint_other_stack) };
    // The transport has its policies; these are never called.
    let mut control = Control::named("newreno")?;
    (control.full, control.alias) = (name.to_owned(), spec.text.clone());
    control.recovery = None;
    Ok(control)
}

/// Where a name has the prefix of another stack, the error says which transport has that stack.
fn hint_other_stack(mut problem: ControlProblem) -> ControlProblem {
    if let ControlProblem::Unknown { found, hint, .. } = &mut problem {
        for (whose, on) in [(OF_QUINN, "quic"), (OF_NOQ, "noq")] {
            if found.starts_with(whose) {
                *hint = format!(", which `--on {on}` may have");
            }
        }
    }
    problem
}

/// The scenario as its transports can run it: where a flow is of another stack and no packet size
/// is given, packets of the smallest size that transport has.
pub(crate) fn with_packet_size(
    scenario: &Scenario,
    on: Simulator<'_>,
) -> Result<Scenario, RunError> {
    let mut scenario = scenario.clone();
    let Some(transport) = on.other_stack else { return Ok(scenario) };
    if !uses_other_stack(&scenario, on)? {
        return Ok(scenario);
    }
    let packets = transport.packets();
    let (least, most) = (*packets.start(), *packets.end());
    let packet = *scenario.packet.get_or_insert(Size::from_bytes(least));
    if packets.contains(&packet.bytes()) {
        return Ok(scenario);
    }
    let name = transport.name();
    let problem = format!("no packet of {name}; accepted over {name}: {least}B to {most}B");
    Err(scenario.error_at("packet", problem).into())
}

/// The scenario as results show it: a flow that another stack carries under every control repairs
/// by RFC 9002, whatever recovery the profile has for TCP.
pub(crate) fn with_quic_recovery(
    scenario: &Scenario,
    mut complete: Complete,
    on: Simulator<'_>,
) -> Result<Complete, RunError> {
    let plans = scenario.plans()?;
    for (at, group) in scenario.groups().iter().enumerate() {
        let mut other = true;
        for plan in &plans {
            other &= carrier(on, group.transport, &plan.controls[at])?.is_some();
        }
        if other && !complete.flows[at].recovery.given {
            complete.flows[at].recovery.value = Recovery::Quic;
        }
    }
    Ok(complete)
}

fn uses_other_stack(scenario: &Scenario, on: Simulator<'_>) -> Result<bool, RunError> {
    let flows = scenario.groups();
    for plan in scenario.plans()? {
        for (flow, spec) in flows.iter().zip(&plan.controls) {
            if carrier(on, flow.transport, spec)?.is_some() {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// The flows of another stack in a run, each with its place among all.
type AllEnds = Vec<(usize, Box<dyn Ends>)>;

/// The flows of another stack in a run, and the name of what carries it.
pub(crate) fn all_ends(
    complete: &Complete,
    plan: &Plan,
    network: &Network,
    on: Simulator<'_>,
    logs: Option<&Logs>,
) -> Result<(AllEnds, String), RunError> {
    let mut ends = Vec::new();
    let groups = complete.flows.iter().zip(&plan.controls);
    let groups = groups.flat_map(|pair| std::iter::repeat_n(pair, pair.0.count as usize));
    for ((place, spec), (group, control)) in network.flows.iter().enumerate().zip(groups) {
        let Some(transport) = carrier(on, group.transport, control)? else { continue };
        let seed = stream(network.seed, ENDS_STREAM + place as u64).next_u64();
        let path_bytes = path_bytes(complete, spec);
        let run = plan.name.as_str();
        let flow = OtherFlow { run, place, control, group, spec, complete, path_bytes, seed, logs };
        ends.push((place, transport.ends(&flow).map_err(RunError::Input)?));
    }
    let other = on.other_stack.map_or("", OtherStack::name);
    let carried = match ends.len() {
        0 => "sim".to_owned(),
        all if all == network.flows.len() => other.to_owned(),
        _ => format!("sim, {other}"),
    };
    Ok((ends, carried))
}

/// What readers of a run under these controls must know, if anything.
pub(crate) fn cautions(
    specs: &[ControlSpec],
    groups: &[complete::Flow],
    on: Simulator<'_>,
) -> Option<String> {
    let other = on.other_stack?;
    let carried =
        |spec: &ControlSpec| on.by_default || spec.startup.name.starts_with(other.prefix());
    let carried = specs.iter().zip(groups).filter(|(spec, _)| carried(spec));
    let caution = |(spec, group)| other.caution(spec, group);
    let mut texts: Vec<String> = carried.filter_map(caution).collect();
    texts.dedup();
    (!texts.is_empty()).then(|| texts.join("; "))
}

/// BDP and buffers of a flow's path, in bytes.
fn path_bytes(complete: &Complete, spec: &FlowSpec) -> u64 {
    use firstflight_scenario::complete::Buffer::{Bytes, Packets, Unlimited};
    let rooms = spec.path.iter().map(|link| complete.room_and_loss(*link).0);
    let buffers = rooms.map(|room| match room {
        Packets(packets) => packets.saturating_mul(complete.wire_bytes()),
        Bytes(bytes) => bytes,
        Unlimited => 0,
    });
    let access = spec.access_delay * 4;
    let held = u128::from(spec.return_rate_bps) * u128::from(access.0) / 8_000_000_000;
    let access_bytes = if access == Span(0) { 0 } else { u64::try_from(held).unwrap_or(u64::MAX) };
    let buffered = buffers.fold(0, u64::saturating_add);
    // The window is to hold whatever the links carry at their best.
    let rate = complete.path_bps(&spec.path).max(spec.return_rate_bps);
    complete.bdp_bytes(&spec.path, rate).saturating_add(buffered).saturating_add(access_bytes)
}

/// Streams of their ends begin here; below are those of links, starts and files.
const ENDS_STREAM: u64 = 1 << 34;
