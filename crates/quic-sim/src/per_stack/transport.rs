//! The stack as a transport of the runner: flows of a scenario become pairs.

use std::ops::RangeInclusive;
use std::time::Duration;

use super::adapter::{self, Constants, OWN, OfStack};
use super::{Itself, NAME, OF_STACK, OVER, VERSION, seam};
use firstflight_control::ControlProblem;
use firstflight_core::needs::Facilities;
use firstflight_qlog::{Header, Vantage};
use firstflight_runner::{OtherFlow, OtherStack};
use firstflight_scenario::{ControlSpec, Size, Time, complete};
use firstflight_sim::{Ends, FileDraws};

use super::client_and_server::ClientAndServer;
use super::files::Files;
use super::setup::{MAX_PACKET, MIN_PACKET, QuicControl, Setup, SetupError};
use crate::applies::applies;

impl OtherStack for Itself {
    fn name(&self) -> &'static str {
        NAME
    }

    fn prefix(&self) -> &'static str {
        OF_STACK
    }

    fn packets(&self) -> RangeInclusive<u64> {
        MIN_PACKET..=MAX_PACKET
    }

    fn own_control(&self, spec: &ControlSpec) -> Result<Option<&'static str>, ControlProblem> {
        if !spec.startup.name.starts_with(OF_STACK) {
            return Ok(None);
        }
        adapter::any(&spec.text)?;
        Ok(OWN.iter().map(|own| own.name).find(|name| *name == spec.text))
    }

    fn check(&self, spec: &ControlSpec) -> Result<(), ControlProblem> {
        adapter::any(&spec.text).map(drop)
    }

    fn caution(&self, spec: &ControlSpec, group: &complete::Flow) -> Option<String> {
        if OfStack::named(&spec.text) == Some(OfStack::Bbr) {
            return Some(format!("{} {NOT_REPLAYABLE}", spec.text));
        }
        let mut missing = adapter::control(&spec.text).ok()?.missing();
        if group.files.is_some_and(|files| !files.keep_alive) {
            missing = missing.without(Facilities::MEMORY);
        }
        (!missing.is_empty()).then(|| format!("{}: runs over {OVER} without {missing}", spec.text))
    }

    fn ends(&self, flow: &OtherFlow<'_>) -> Result<Box<dyn Ends>, String> {
        let group = flow.group;
        let control =
            QuicControl::named(&flow.control.text).map_err(|problem| problem.to_string())?;
        applies(flow.complete, group)?;
        let constants = constants(group, &flow.control.text);
        let setup = Setup {
            control,
            packet_bytes: flow.complete.packet.bytes(),
            initial_window: constants.initial_window,
            initial_ssthresh: constants.initial_ssthresh,
            packet_threshold: constants.packet_threshold,
            delayed_ack: constants.delayed_ack,
            ack_delay: constants.ack_delay,
            send_buffer: constants.send_buffer,
            size: group.size.map(Size::bytes),
            writes: group.each_write().skip(1).map(|(at, size)| (at.ns(), size.bytes())).collect(),
            receive_window: group.receiver_window.map(Size::bytes),
            receiver_window_until: group.receiver_window_until.map(Time::ns),
            path_bytes: flow.path_bytes,
            seed: flow.seed,
        };
        if flow.logs.is_some() && !seam::LOGS {
            return Err(format!(
                "qlog: found a folder; accepted over {NAME}: none (--on quic has)"
            ));
        }
        let log = flow.logs.map(|logs| logs.open(flow)).transpose()?;
        // Of a source of files the first connection has a log.
        let open = |setup: &Setup| match log {
            None => ClientAndServer::new(setup),
            Some(log) => {
                let header = Header {
                    title: format!("{}, flow {}", flow.run, flow.place),
                    description: format!("firstflight run over {VERSION} in virtual time"),
                    vantage: Vantage::Client,
                };
                ClientAndServer::logged(setup, header, log)
            }
        };
        let ends: Result<Box<dyn Ends>, SetupError> = match flow.spec.files {
            None => open(&setup).map(|pair| Box::new(pair) as Box<dyn Ends>),
            Some(files) => {
                let draws = FileDraws::new(files, flow.complete.seed, flow.place as u64);
                Files::new(setup, draws, files.keep_alive, flow.spec.data_bytes(), open)
                    .map(|files| Box::new(files) as Box<dyn Ends>)
            }
        };
        ends.map_err(|problem| format!("packet: {problem}"))
    }
}

/// What a scenario says of the ends of its flows under this control, as constants of the stack; the
/// size of a packet is the scenario's as a whole.
pub fn constants(group: &complete::Flow, control: &str) -> Constants {
    let named = firstflight_control::Control::named(control).ok();
    let own = named.and_then(|control| control.duplicate_acks).map(u64::from);
    let (iw, ssthresh) = (group.iw, group.ssthresh);
    Constants {
        initial_window: iw.given.then_some(iw.value.bytes()),
        initial_ssthresh: ssthresh.value.filter(|_| ssthresh.given).map(Size::bytes),
        packet_bytes: None,
        packet_threshold: Some(group.duplicate_acks.or_own(own)),
        delayed_ack: group.delayed_ack.given.then_some(group.delayed_ack.value),
        ack_delay: group.ack_delay().map(|delay| Duration::from_nanos(delay.ns())),
        send_buffer: group.send_buffer.map(Size::bytes),
    }
}

/// The generator of a stack's own BBR has no seed that a user could set.
const NOT_REPLAYABLE: &str =
    "draws its gain cycle from the system's randomness: the next run differs";
