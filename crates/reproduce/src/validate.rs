//! Finds mistakes of paper files that would otherwise show only once runs are finished.

use std::collections::BTreeSet;

use firstflight_results::Class;

use crate::error::ReproduceError;
use crate::file::{Check, Claim};
use crate::paper::{Expanded, Paper};

/// Checks that every claim and plot refers to runs that exist, and that every claim can fail.
///
/// # Errors
/// The first claim or plot for which this is not so, with its file and id.
pub(crate) fn validate(papers: &[Paper]) -> Result<(), ReproduceError> {
    let mut ids = BTreeSet::new();
    for paper in papers {
        for expanded in &paper.experiments {
            for claim in &expanded.data.claims {
                let problem = of_claim(expanded, claim).err();
                let twice = (!ids.insert(claim.id.clone())).then(|| "twice".to_owned());
                let foreign = (!claim.id.starts_with(&format!("{}-", paper.head.id)))
                    .then(|| format!("not an id of paper {}", paper.head.id));
                if let Some(problem) = problem.or(twice).or(foreign) {
                    let problem = format!("claim `{}`: {problem}", claim.id);
                    return Err(ReproduceError::paper(&expanded.path, problem));
                }
            }
            for plot in &expanded.data.plots {
                if let Err(problem) = plot.variants(expanded) {
                    let problem = format!("plot `{}`: {problem}", plot.id);
                    return Err(ReproduceError::paper(&expanded.path, problem));
                }
            }
        }
    }
    Ok(())
}

fn of_claim(expanded: &Expanded, claim: &Claim) -> Result<(), String> {
    if claim.unjudged.is_some() {
        return match claim.all_checks().next() {
            None => Ok(()),
            Some(_) => Err("a claim has checks or is `unjudged`, not both".to_owned()),
        };
    }
    if claim.checks.is_empty() {
        return Err("no check; accepted: one or more, or `unjudged` with the reason".to_owned());
    }
    let only_informs =
        |checks: &[Check]| !checks.is_empty() && checks.iter().all(|check| check.information);
    if only_informs(&claim.checks) || only_informs(&claim.refutations) {
        return Err("only `information`, which decides nothing; accepted: one check or more that \
            does"
            .to_owned());
    }
    if (claim.class == Class::Refuted) == claim.refutations.is_empty() {
        return Err("class `refuted` and `refutation` belong together".to_owned());
    }
    for check in claim.all_checks() {
        check.points(expanded)?;
        if check.information && check.fitted {
            return Err("a check is `fitted` or `information`, not both".to_owned());
        }
        if !check.information && !check.has_condition(claim) {
            return Err("a check without a condition cannot fail; accepted: equals, within, \
                within_percent, at_least, at_most, above, below"
                .to_owned());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::paper::{FILES, load};

    #[test]
    fn every_file_parses_and_every_claim_and_plot_refers_to_runs() {
        validate(&load(FILES, false).unwrap()).unwrap();
    }

    fn paper(id: &str) -> Paper {
        load(FILES, false).unwrap().into_iter().find(|paper| paper.head.id == id).unwrap()
    }

    /// The ids of all claims without that of the paper.
    fn claims(paper: &Paper) -> BTreeSet<&str> {
        let claims = paper.experiments.iter().flat_map(|expanded| &expanded.data.claims);
        claims.map(|claim| &claim.id[3..]).collect()
    }

    fn plots(paper: &Paper) -> BTreeSet<&str> {
        let plots = paper.experiments.iter().flat_map(|expanded| &expanded.data.plots);
        plots.map(|plot| plot.id.as_str()).collect()
    }

    /// The ids of a paper's claims, and of the rows that we added.
    fn ids<'a>(of_paper: &'a str, own: &'a str) -> BTreeSet<&'a str> {
        of_paper.split_whitespace().chain(own.split_whitespace()).collect()
    }

    #[test]
    fn no_claim_and_no_figure_of_the_astart_paper_is_missing() {
        let paper = paper("S0");
        let wanted = "T1a T1b T1c T1d T1e T2a T2b T2c T2d T2e X1 X2 F2a T3 X3 D1 F3a F3b C1 F5 F5w \
            F6 F10a F10b F10c F9 F11 F7 F7b F7c F8a F8b F8c X4 F13a F13b F14 F15 A1 X5 C2 X6 \
            D2 D3 D4 D4e D5 D6 D7";
        let own = "I1 I2 I3 I4 LT1a LT1b LT1c LT1d LT1e LT2a LT2b LT2c LT2d LT2e LX6 LD2";
        assert_eq!(claims(&paper), ids(wanted, own));
        for number in (2..=15).chain([17]) {
            let figure = format!("figure{number:02}");
            assert!(plots(&paper).iter().any(|id| id.starts_with(&figure)), "{figure}");
        }
    }

    #[test]
    fn no_claim_of_the_short_transfers_paper_is_missing() {
        let wanted = "T1 T1p E4 C1 C2 C2b C3 C4 C4b F4 F4b F5 F5b F6 F7 F8 F8b F8c F10 F10b \
            X1 X2 F11 F11b F12 F12b D1";
        assert_eq!(claims(&paper("S1")), ids(wanted, "I1 I2"));
    }

    #[test]
    fn no_claim_and_no_figure_of_the_agile_probing_paper_is_missing() {
        let paper = paper("S2");
        let wanted = "F1a F1b F1b-vegas F2a F2b F4a F4a-letter F4b F4b-letter F4b-jump X1 F5a F5b \
            F6 X2 F7 F8 X3 F9 X4";
        assert_eq!(claims(&paper), ids(wanted, "D1 D2 D3 D4 I1 I2 I3 I4 LF8 LX3 LF9"));
        for figure in ["01a", "01b", "02", "04", "05", "06", "07", "08", "09"] {
            assert!(plots(&paper).contains(&*format!("figure{figure}")), "{figure}");
        }
    }

    #[test]
    fn no_claim_and_no_figure_of_the_m_start_paper_is_missing() {
        let paper = paper("S4");
        let wanted = "T1 T2 T2e T3a T3b T3c T4 T4a T4b X1 X2 X3 X4 X4b X5 X6 X7 D1 D1b";
        assert_eq!(claims(&paper), ids(wanted, ""));
        assert_eq!(plots(&paper), ids("figure03 figure05 figure06 figure07", ""));
    }

    #[test]
    fn no_claim_of_todays_start_ups_is_missing() {
        let wanted = "HP1 SE1 SE2 SE3 SE4 SU1 SU2 SU3 SU4 BB1 BB2 BB3 RS1 RS2 RS3 RS4 RS5 CR1 CR2 \
            CR3 CR4 CR5 PQ1 PQ2 PQ3 PQ4 PQ5 PQ6 C41 CO1 JS1";
        assert_eq!(claims(&paper("S5")), ids(wanted, "I1 I2 I3 I4"));
    }

    const HEAD: &str = "name = 'p'\nid = 'P0'\nplace = 1\ntitle = ''\nlabel = ''\n\
        citation = ''\nsetup = []\n\
        order = ['a']\n[scenario]\ncontrols = ['newreno']\n";

    #[test]
    fn measures_of_a_script_and_of_a_network_are_not_mixed() {
        let problem = |acks: &str, check: &str| {
            let text = format!(
                "title = ''\ntext = []\n{acks}\n[[case]]\nname = 'c'\n[[claim]]\nid = 'P0-1'\n\
                 what = ''\nclass = 'exact'\nexpected = 1\ncheck = [{{ equals = 1, {check} }}]\n"
            );
            let files = [("p/paper.toml", HEAD), ("p/a.toml", text.as_str())];
            validate(&load(&files, false).unwrap()).map_err(|error| error.to_string())
        };
        let cwnd = "measure = 'scripted_cwnd', ack = 1";
        assert!(problem("", cwnd).unwrap_err().contains("wants a script; see `acks`"));
        let throughput = problem("acks = 5", "measure = 'throughput'").unwrap_err();
        assert!(throughput.contains("wants a network; see `acks`"), "{throughput}");
        let neither = problem("acks = 5", "measure = 'scripted_cwnd'").unwrap_err();
        assert!(neither.contains("wants either `ack` or `round`"), "{neither}");
        assert_eq!(problem("acks = 5", cwnd), Ok(()));
    }

    #[test]
    fn a_claim_that_cannot_fail_or_reads_nothing_is_refused() {
        let problem = |class: &str, check: &str| {
            let text = format!(
                "title = ''\ntext = []\n[[case]]\nname = 'c'\n[[claim]]\nid = 'P0-1'\n\
                 what = ''\nclass = '{class}'\nexpected = 1\ncheck = [{{ {check} }}]\n"
            );
            let files = [("p/paper.toml", HEAD), ("p/a.toml", text.as_str())];
            validate(&load(&files, false).unwrap()).unwrap_err().to_string()
        };
        let throughput = "measure = 'throughput'";
        assert!(problem("shape", throughput).contains("a check without a condition cannot fail"));
        let near = |more: &str| format!("{throughput}, within = 1, {more}");
        let case = problem("shape", &near("case = 'd'"));
        assert_eq!(
            case,
            "papers/p/a.toml: claim `P0-1`: no case `d`, did you mean `c`; there are c"
        );
        assert!(problem("shape", &near("control = 'reno'")).contains("it has newreno"));
        assert!(problem("shape", &near("from = 1")).contains("write `samples`"));
        assert!(problem("refuted", &near("case = 'c'")).contains("belong together"));
        let alone = problem("shape", "measure = 'throughput', information = true");
        assert!(alone.contains("only `information`, which decides nothing"), "{alone}");
        let refuted = problem(
            "refuted",
            &format!(
                "{throughput}, above = 1 }}]\nrefutation = [{{ {throughput}, information = true"
            ),
        );
        assert!(refuted.contains("only `information`, which decides nothing"), "{refuted}");
        let both = problem(
            "shape",
            &near(
                "fitted = true }, { measure = 'throughput', \
            information = true, fitted = true",
            ),
        );
        assert!(both.contains("`fitted` or `information`, not both"), "{both}");
        let text = |more: &str| {
            format!(
                "title = ''\ntext = []\n[[case]]\nname = 'c'\n[[claim]]\nid = 'P0-1'\n\
                 what = ''\nclass = 'anecdote'\nexpected = 1\nunjudged = 'no such kernel'\n{more}"
            )
        };
        let judged = |text: String| {
            let files = [("p/paper.toml", HEAD), ("p/a.toml", text.as_str())];
            validate(&load(&files, false).unwrap()).map_err(|error| error.to_string())
        };
        assert_eq!(judged(text("")), Ok(()));
        let both = judged(text(&format!("check = [{{ {} }}]\n", near("case = 'c'")))).unwrap_err();
        assert!(both.contains("has checks or is `unjudged`, not both"), "{both}");
        let formula = "measure = 'formula', formula = '1 +', equals = 1";
        assert!(problem("shape", formula).contains("expected a number at column 4"));
    }
}
