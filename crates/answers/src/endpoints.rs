//! The endpoints in force, in a line that stands in every header, table and figure: the profile,
//! the initial window and ssthresh, the recovery, and who paces.

use firstflight_control::{Control, ControlSpec};
use firstflight_core::needs::Facilities;
use firstflight_core::policy::Startup as _;
use firstflight_core::units::Bytes;
use firstflight_core::view::Window;
use firstflight_runner::Report;
use firstflight_scenario::{Complete, Recovery, Size, complete};

/// `profile linux: IW 10 packets, no ssthresh, recovery RACK, no pacing`, then what single controls
/// do otherwise. Of a kernel's TCP and of QUIC it says whose endpoints they are.
pub fn in_force(report: &Report) -> String {
    let mut text = common(report);
    for own in otherwise(report) {
        text.push_str("; ");
        text.push_str(&own);
    }
    text
}

/// What holds for all controls, which is short however many they are.
pub fn common(report: &Report) -> String {
    let complete = &report.scenario;
    let first = report.runs.first();
    let mut text = match (transport(report), first.and_then(|run| run.result.lab.as_ref())) {
        ("linux", Some(lab)) => {
            format!("TCP of Linux {}, {}", lab.kernel, complete.endpoints())
        }
        ("quic", _) => of_quic(complete, "quinn"),
        ("noq", _) => of_quic(complete, "noq"),
        (mixed, _) if mixed.contains("quic") => {
            format!("{}; over QUIC: {}", complete.endpoints(), of_quic(complete, "quinn"))
        }
        (mixed, _) if mixed.contains("noq") => {
            format!("{}; over noq: {}", complete.endpoints(), of_quic(complete, "noq"))
        }
        _ => complete.endpoints(),
    };
    if transport(report) == "sim" {
        text.push_str(match paced(complete) {
            Paced::None => ", no pacing",
            Paced::All => ", paced",
            Paced::Some => ", no pacing but where said",
        });
    }
    text
}

/// What some controls do otherwise, those that do the same together: `vegas, scout: no ssthresh`.
pub fn otherwise(report: &Report) -> Vec<String> {
    if transport(report) != "sim" {
        return Vec::new();
    }
    let complete = &report.scenario;
    let mut groups: Vec<(String, Vec<&str>)> = Vec::new();
    let controls = controls(complete);
    for (control, spec) in &controls {
        let own = exceptions(complete, control, spec, paced(complete) == Paced::Some).join(", ");
        match groups.iter_mut().find(|(known, _)| *known == own) {
            Some((_, names)) => names.push(&spec.text),
            None if own.is_empty() => {}
            None => groups.push((own, vec![&spec.text])),
        }
    }
    groups.into_iter().map(|(own, names)| format!("{}: {own}", names.join(", "))).collect()
}

/// What carried the first run, which names that of all.
fn transport(report: &Report) -> &str {
    report.runs.first().map_or("sim", |run| run.result.transport.as_str())
}

/// How many of the controls pace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Paced {
    None,
    Some,
    All,
}

fn paced(complete: &Complete) -> Paced {
    let controls = controls(complete);
    let all = complete.endpoint.switches.pacing;
    match controls.iter().filter(|(control, _)| all || is_paced(control)).count() {
        0 => Paced::None,
        some if some == controls.len() => Paced::All,
        _ => Paced::Some,
    }
}

/// RFC 9002 section 7.2 for the window; a stack paces by a rule of its own.
fn of_quic(complete: &Complete, stack: &str) -> String {
    let Some(flow) = complete.flows.first() else { return String::new() };
    let iw = match flow.iw.given {
        true => complete.window(flow.iw.value),
        false => "10 packets".to_owned(),
    };
    let ssthresh = match flow.ssthresh.value.filter(|_| flow.ssthresh.given) {
        Some(size) => format!("ssthresh {}", complete.window(size)),
        None => "no ssthresh".to_owned(),
    };
    format!("{stack}'s endpoints: IW {iw}, {ssthresh}, recovery of RFC 9002, paced by {stack}")
}

/// Every control of the scenario once, but for those that only another stack has.
fn controls(complete: &Complete) -> Vec<(Control, &ControlSpec)> {
    let own = complete.flows.iter().filter_map(|flow| flow.control.as_ref());
    let mut specs: Vec<&ControlSpec> = Vec::new();
    for spec in complete.controls.iter().chain(own) {
        if specs.iter().all(|known| known.text != spec.text) {
            specs.push(spec);
        }
    }
    specs.into_iter().filter_map(|spec| Some((Control::resolve(spec).ok()?, spec))).collect()
}

/// What this control does otherwise than the endpoints' line says.
fn exceptions(
    complete: &Complete,
    control: &Control,
    spec: &ControlSpec,
    say_paced: bool,
) -> Vec<String> {
    let uses =
        |flow: &&complete::Flow| flow.control.as_ref().is_none_or(|own| own.text == spec.text);
    let Some(flow) = complete.flows.iter().find(uses) else { return Vec::new() };
    let common = flow.ssthresh.value.map_or(Bytes::MAX, |size| Bytes(size.bytes()));
    // Start-ups that find their own end take no ssthresh from the profile.
    let own_end = control.startup.card().own_end && !flow.ssthresh.given;
    let given = Window {
        cwnd: Bytes(flow.iw.value.bytes()),
        ssthresh: if own_end { Bytes::MAX } else { common },
    };
    let open = control.startup.open(given, Bytes(complete.packet.bytes()));
    let mut own = Vec::new();
    // What its name says is not repeated.
    let named = |knob| spec.startup.knob(knob).is_some();
    if open.cwnd != given.cwnd && !named("iw") {
        own.push(format!("IW {}", complete.window(Size::from_bytes(open.cwnd.0))));
    }
    if named("ssthresh") {
    } else if open.ssthresh == Bytes::MAX && common != Bytes::MAX {
        own.push("no ssthresh".to_owned());
    } else if open.ssthresh != common {
        own.push(format!("ssthresh {}", complete.window(Size::from_bytes(open.ssthresh.0))));
    }
    if let Some(recovery) = own_recovery(complete, control, flow) {
        own.push(format!("recovery {}", recovery.title()));
    }
    if say_paced && is_paced(control) {
        own.push("paced".to_owned());
    }
    own
}

/// It says at what rate packets leave.
fn is_paced(control: &Control) -> bool {
    control.needs().all().has(Facilities::PACING)
}

/// The recovery that a control's name brings, where it is not that of the endpoints.
fn own_recovery(complete: &Complete, control: &Control, flow: &complete::Flow) -> Option<Recovery> {
    let profile = complete.endpoint.profile;
    let own =
        firstflight_runner::own_recovery(profile, control).filter(|_| !flow.recovery.given)?;
    (own != flow.recovery.value).then_some(own)
}

/// The controls whose name says how they repair losses, where current kernels would use SACK: a
/// reader would else take the repair's cost for the control's.
pub(crate) fn without_sack(report: &Report) -> Option<String> {
    let complete = &report.scenario;
    let sack =
        |flow: &&complete::Flow| matches!(flow.recovery.value, Recovery::Sack | Recovery::Rack);
    let flow = complete.flows.iter().find(sack)?;
    if report.runs.iter().any(|run| run.result.transport != "sim") {
        return None;
    }
    let controls = controls(complete);
    let named = controls.iter().filter_map(|(control, spec)| {
        own_recovery(complete, control, flow).map(|recovery| (spec.text.as_str(), recovery.title()))
    });
    let repairs: Vec<String> = named.map(|(name, title)| format!("{name} by {title}")).collect();
    (!repairs.is_empty()).then(|| {
        format!(
            "Losses are repaired by SACK, but those of {}, as the name says; --recovery sack gives \
             every control the same repair.",
            repairs.join(", of ")
        )
    })
}

#[cfg(test)]
mod tests {
    use firstflight_runner::{Options, run};
    use firstflight_scenario::Scenario;

    use super::*;

    fn line_of(text: &str) -> String {
        let scenario = Scenario::parse(&format!("duration = '1ms'\n{text}"), "x.toml").unwrap();
        in_force(&run(&scenario, &Options::default()).unwrap())
    }

    #[test]
    fn what_holds_for_all_comes_first_and_exceptions_by_their_control() {
        let common = "profile linux: IW 10 packets, no ssthresh, recovery RACK, no pacing";
        assert_eq!(line_of("controls = ['hoe', 'mstart']"), common);
        assert_eq!(
            line_of("controls = ['liw', 'slow-start(ssthresh=20pkt)']"),
            common.to_owned() + "; liw: IW 64 packets, ssthresh 64 packets",
            "a name says its knobs itself"
        );
        assert_eq!(
            line_of(
                "profile = 'rfc'\ncontrols = ['newreno', 'vegas', 'scout', 'reno', 'paced', 'bbr']"
            ),
            "profile rfc: IW 1 packet, ssthresh 32 packets, recovery NewReno, no pacing but where \
             said; vegas: no ssthresh; scout, bbr: no ssthresh, paced; reno: recovery Reno; \
             paced: paced"
        );
        assert_eq!(
            line_of("pacing = true\ncontrols = ['hoe', 'paced']"),
            "profile linux with its own pacing: IW 10 packets, no ssthresh, recovery RACK, paced"
        );
    }
}
