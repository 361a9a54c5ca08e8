//! Which of a control's two policies a knob is for.

use firstflight_core::registry::Alias;

use crate::axis::Axis;
use crate::spec::{ControlSpec, NamedPolicy};
use crate::value::{knob, read};

/// The policies that a control names, each with its knobs under their own names.
///
/// An alias gives way to what it stands for; an avoidance of the user's replaces that of the alias.
/// Knobs written later win. Where no avoidance is written, the knobs are for the pair: after an
/// alias each policy takes those it has; after a start-up's own name the avoidance takes those that
/// the start-up does not.
pub(crate) fn policies(spec: &ControlSpec, alias: Option<&Alias>) -> (NamedPolicy, NamedPolicy) {
    let landed = spec.startup.landed;
    let meant = alias.and_then(|alias| alias.control.parse::<ControlSpec>().ok());
    let (mut startup, usual) = match meant {
        Some(meant) => (meant.startup, meant.avoidance),
        None => (bare(&spec.startup.name), None),
    };
    // The card names it, also for a start-up from outside.
    let partner = Axis::Startup.card(&startup.name).and_then(|card| card.partner);
    let usual = usual.unwrap_or_else(|| bare(partner.unwrap_or(PARTNER)));
    let (pair, alias) = (spec.avoidance.is_none(), startup.name != spec.startup.name);
    let mut avoidance = spec.avoidance.as_ref().map_or(usual, |part| bare(&part.name));
    for (key, value) in &spec.startup.knobs {
        let of_startup = takes(Axis::Startup, &startup, key, value);
        let of_avoidance = pair && takes(Axis::Avoidance, &avoidance, key, value);
        if of_avoidance && (alias || !of_startup) {
            put(Axis::Avoidance, &mut avoidance, key, value);
        }
        // A key that neither has is refused as one of the start-up's.
        if of_startup || !of_avoidance {
            put(Axis::Startup, &mut startup, key, value);
        }
    }
    for (key, value) in spec.avoidance.iter().flat_map(|part| &part.knobs) {
        put(Axis::Avoidance, &mut avoidance, key, value);
    }
    startup.landed = landed;
    (startup, avoidance)
}

fn bare(name: &str) -> NamedPolicy {
    NamedPolicy { name: name.to_owned(), knobs: Vec::new(), landed: false }
}

fn takes(axis: Axis, part: &NamedPolicy, key: &str, value: &str) -> bool {
    let knob = axis.card(&part.name).and_then(|card| knob(card, key));
    knob.is_some_and(|knob| read(knob.kind, value).is_some())
}

fn put(axis: Axis, part: &mut NamedPolicy, key: &str, value: &str) {
    let name = axis.card(&part.name).and_then(|card| knob(card, key));
    let name = name.map_or(key, |knob| knob.name);
    part.knobs.retain(|(known, _)| known != name);
    part.knobs.push((name.to_owned(), value.to_owned()));
}

/// The avoidance of a start-up that has no other.
const PARTNER: &str = "newreno";

#[cfg(test)]
mod tests {
    use crate::Control;

    fn full(text: &str) -> String {
        Control::named(text).unwrap().full
    }

    fn problem(text: &str) -> String {
        let problem = Control::named(text).unwrap_err().to_string();
        problem.split("`: ").nth(1).unwrap().split("; accepted").next().unwrap().to_owned()
    }

    #[test]
    fn knobs_after_a_policys_own_name_are_for_that_policy_and_others_for_its_partner() {
        assert_eq!(full("astart(preset=paper)"), "astart(preset=paper)+westwood");
        assert_eq!(full("hoe(ssthresh=none)"), "hoe(ssthresh=none)+newreno");
        assert_eq!(full("astart(lg=on,ere.N=5)"), "astart(ere.N=5)+westwood(lg=on)");
        assert_eq!(full("vegas(gamma=2,alpha=2)"), "vegas(gamma=2)+vegas(alpha=2)");
        assert_eq!(problem("astart(alpha=2)+vegas"), "astart has no knob `alpha`");
        assert_eq!(
            problem("tcpw-a(lg.bet=0.7)"),
            "astart has no knob `lg.bet`, did you mean `lg.beta`"
        );
    }

    #[test]
    fn a_start_up_or_an_alias_may_have_another_landing() {
        assert_eq!(full("landed(hystart-pp)+cubic"), "landed(hystart-pp)+cubic");
        assert_eq!(
            full(" landed( hystart-pp( css_rounds = 3 ) ) "),
            "landed(hystart-pp(css_rounds=3))+cubic"
        );
        assert_eq!(full("landed(tcpw-a(lg.eps=0.6))"), "landed(astart)+westwood(lg=on,lg.eps=0.6)");
        assert_eq!(
            problem("landed(hystrat)"),
            "unknown start-up `hystrat`, did you mean `hystart`"
        );
    }

    #[test]
    fn of_an_aliass_policies_only_those_that_take_a_value_get_it() {
        assert_eq!(full("tcpw(preset=paper)"), "slow-start+westwood(preset=paper)");
        assert_eq!(full("newreno(preset=rfc6928)"), "slow-start(preset=rfc6928)+newreno");
    }

    #[test]
    fn a_knob_may_have_its_policys_name_before_it() {
        assert_eq!(full("mstart(mstart.P=5)"), "mstart(P=5)+cubic");
        assert_eq!(full("astart(astart.ssthresh0=64pkt)"), "astart(ssthresh=64pkt)+westwood");
        assert_eq!(full("vegas(vegas.beta=4)"), "vegas+vegas(beta=4)");
        assert_eq!(full("hoe+westwood(westwood.lg=true)"), "hoe+westwood(lg=true)");
    }
}
