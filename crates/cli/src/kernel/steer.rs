//! `kernel steer`: rules that give new connections a control.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use firstflight_kernel::catalogue::{available, kernel_name};
use firstflight_kernel::cgroup::Cgroup;
use firstflight_kernel::steer::{self, Counts, Rule, SteerError};
use firstflight_kernel::watch::default_cgroup;
use firstflight_scenario::Fraction;
use ipnet::IpNet;
use serde::Serialize;
use serde_json::json;

use super::watch::{no_cgroup, read_prefix};
use super::{Steer as Args, why};
use crate::document::document;
use crate::failure::{Failure, Status};
use crate::output;

/// Runs `kernel steer`.
pub(super) fn steer(args: &Args) -> Result<Status, Failure> {
    let to = read_prefix("kernel steer", &args.to)?.trunc();
    let cgroup = args.cgroup.as_deref().map(Cgroup::of).transpose()?;
    let wanted = args.control.as_deref().map(|control| rule(args, to, cgroup, control));
    let wanted = wanted.transpose()?;
    let mut rules = steer::list()?;
    if wanted.is_some() || args.remove {
        let before = rules.len();
        let same = (to, args.port, cgroup);
        rules.retain(|(rule, _)| (rule.to, rule.port, rule.cgroup) != same);
        if args.remove && rules.len() == before {
            return Err(Failure::Usage(format!(
                "kernel steer: --remove: no rule has --to {to}{}{}; `firstflight kernel steer` \
                 shows them",
                port(args.port),
                below(args.cgroup.as_deref())
            )));
        }
        rules.extend(wanted.map(|rule| (rule, Counts::default())));
    } else if args.clear {
        rules.clear();
    }
    let changes = args.control.is_some() || args.remove || args.clear;
    if changes && !args.dry_run {
        change(&rules)?;
        rules = steer::list()?;
    }
    // In the order in which they are looked at.
    let reports: Vec<_> =
        rules.iter().map(|(rule, counts)| RuleReport::new(rule, counts)).collect();
    output::print(&match args.json {
        true => document("firstflight/steer@1", json!({ "rules": reports }))?,
        false => text(&reports),
    })?;
    Ok(Status::Done)
}

fn change(rules: &[(Rule, Counts)]) -> Result<(), Failure> {
    if rules.is_empty() {
        steer::clear()?;
        return Ok(());
    }
    let cgroup = default_cgroup().ok_or_else(|| no_cgroup("kernel steer"))?;
    let rules: Vec<Rule> = rules.iter().map(|(rule, _)| rule.clone()).collect();
    Ok(steer::set(&cgroup, &rules)?)
}

fn rule(args: &Args, to: IpNet, cgroup: Option<Cgroup>, control: &str) -> Result<Rule, Failure> {
    let control = known_control("kernel steer", control)?;
    let share = |text: &str| per_mille("kernel steer", text);
    let per_mille = args.share.as_deref().map_or(Ok(1000), share)?;
    Ok(Rule { to, port: args.port, per_mille, control, cgroup })
}

/// The name by which the kernel has a control.
pub(super) fn known_control(command: &str, control: &str) -> Result<String, Failure> {
    let names = [control.to_owned(), kernel_name(control)];
    let known = available();
    names.into_iter().find(|name| known.contains(name)).ok_or_else(|| {
        Failure::Usage(format!(
            "{command}: the kernel has no control `{control}`; load it first: firstflight kernel \
             load {control}; it has {}",
            known.join(", ")
        ))
    })
}

/// A share in steps of 0.1 %.
pub(super) fn per_mille(command: &str, text: &str) -> Result<u16, Failure> {
    let wrong = |problem: &str| Failure::Usage(format!("{command}: --share {text}: {problem}"));
    if text == "100%" {
        return Ok(1000);
    }
    let share: Fraction = text.parse().map_err(|error| wrong(&format!("{error}")))?;
    match (share.ppb() % 1_000_000, u16::try_from(share.ppb() / 1_000_000)) {
        (0, Ok(per_mille @ 1..=1000)) => Ok(per_mille),
        _ => Err(wrong("accepted: 0.1% to 100%, in steps of 0.1%")),
    }
}

fn port(port: Option<u16>) -> String {
    port.map(|port| format!(" --port {port}")).unwrap_or_default()
}

fn below(cgroup: Option<&Path>) -> String {
    cgroup.map(|folder| format!(" --cgroup {}", folder.display())).unwrap_or_default()
}

/// A rule and what it has done since the rules were last changed.
#[derive(Serialize)]
struct RuleReport {
    control: String,
    to: String,
    port: Option<u16>,
    /// The folder of its cgroup; empty for one that is gone.
    cgroup: Option<PathBuf>,
    share: f64,
    /// Connections for which it was the first that matched.
    matched: u64,
    steered: u64,
    /// Whose application had chosen a control itself.
    own_choice: u64,
    failed: u64,
    /// Why, the last time.
    last_error: Option<String>,
}

impl RuleReport {
    fn new(rule: &Rule, counts: &Counts) -> Self {
        Self {
            control: rule.control.clone(),
            to: rule.to.to_string(),
            port: rule.port,
            cgroup: rule.cgroup.map(|cgroup| cgroup.folder().unwrap_or_default()),
            share: f64::from(rule.per_mille) / 1000.,
            matched: counts.matched,
            steered: counts.steered,
            own_choice: counts.own_choice,
            failed: counts.failed,
            last_error: (counts.failed > 0).then(|| why(counts.last_error)),
        }
    }
}

fn text(rules: &[RuleReport]) -> String {
    let mut text = String::new();
    for rule in rules {
        let RuleReport { control, to, matched, steered, own_choice, failed, .. } = rule;
        let (port, share) = (port(rule.port), 100. * rule.share);
        let below = below(rule.cgroup.as_deref());
        let _ = writeln!(text, "{control}: {share}% of new connections --to {to}{port}{below}");
        let _ = write!(text, "  {matched} matched, {steered} steered");
        if *own_choice > 0 {
            let _ = write!(text, ", {own_choice} kept the application's own choice");
        }
        if let Some(why) = &rule.last_error {
            let _ = write!(text, ", {failed} refused: {why}");
        }
        text.push('\n');
    }
    if rules.is_empty() {
        text.push_str("no rule gives new connections a control\n");
    }
    text
}

impl From<SteerError> for Failure {
    fn from(error: SteerError) -> Self {
        match error {
            SteerError::Lack(lack) => lack.into(),
            SteerError::Watch(error) => error.into(),
            SteerError::Unknown(..) | SteerError::TooMany(_) => {
                Self::Usage(format!("kernel: {error}"))
            }
            SteerError::Busy
            | SteerError::Left
            | SteerError::OtherVersion
            | SteerError::System(_)
            | SteerError::Refused(_) => Self::Lacks(format!("kernel: {error}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_come_in_steps_of_a_thousandth() {
        assert_eq!(per_mille("kernel steer", "5%").unwrap(), 50);
        assert_eq!(per_mille("kernel steer", "0.1%").unwrap(), 1);
        assert_eq!(per_mille("kernel steer", "100%").unwrap(), 1000);
        for wrong in ["0%", "0.05%", "101%", "five"] {
            let problem = per_mille("kernel steer", wrong).unwrap_err().to_string();
            assert!(problem.starts_with(&format!("kernel steer: --share {wrong}: ")), "{problem}");
        }
    }

    #[test]
    fn a_rule_says_what_it_has_done() {
        let rule = Rule {
            to: "192.0.2.0/24".parse().unwrap(),
            port: Some(443),
            per_mille: 50,
            control: "ff_scout".to_owned(),
            cgroup: None,
        };
        let counts = Counts { matched: 40, steered: 2, own_choice: 3, failed: 1, last_error: 1 };
        let expected = "ff_scout: 5% of new connections --to 192.0.2.0/24 --port 443\n  \
                        40 matched, 2 steered, 3 kept the application's own choice, \
                        1 refused: its route has `congctl lock` (ip route)\n";
        assert_eq!(text(&[RuleReport::new(&rule, &counts)]), expected);
        assert_eq!(text(&[]), "no rule gives new connections a control\n");
    }
}
