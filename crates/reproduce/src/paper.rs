//! Papers: reads the files that are compiled in, and makes scenarios of their cases.

use std::collections::BTreeSet;

use firstflight_control::stack::OF_LINUX;
use firstflight_runner::Control;
use firstflight_scenario::{Complete, Document, Profile, Scenario, hint};
use serde::de::DeserializeOwned;

use crate::error::ReproduceError;
use crate::file::{Case, Experiment, Head, On, Setting, Sweep};

/// Every file under `papers/`, by its path there.
pub(crate) const FILES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/papers.rs"));

/// A paper and everything in it that can be reproduced.
#[derive(Clone, Debug)]
pub(crate) struct Paper {
    /// The paper as a whole.
    pub head: Head,
    /// The experiments, in the order of the paper.
    pub experiments: Vec<Expanded>,
}

/// An experiment with its sweeps expanded into cases.
#[derive(Clone, Debug)]
pub(crate) struct Expanded {
    /// The file's name without ending: `table1`.
    pub stem: String,
    /// The file's path: `papers/astart/table1.toml`.
    pub path: String,
    /// What the file says.
    pub data: Experiment,
    /// Its cases, those of sweeps after those written alone.
    pub cases: Vec<ExpandedCase>,
}

/// One case: a scenario for each control.
#[derive(Clone, Debug)]
pub(crate) struct ExpandedCase {
    /// Its name in the file.
    pub name: String,
    /// Its place on an x axis.
    pub x: Option<f64>,
    /// The scenario with all of its controls, as `run` takes it.
    pub scenario: Scenario,
    /// That scenario, complete.
    pub complete: Complete,
    /// One variant per control, or a single one without a name when the flows have their own.
    pub variants: Vec<Variant>,
}

/// One case under one control, once per seed.
#[derive(Clone, Debug)]
pub(crate) struct Variant {
    /// The control as in the file; empty when the flows have controls of their own.
    pub control: String,
    /// The scenarios, one per seed.
    pub scenarios: Vec<Scenario>,
    /// How many samples over time to keep.
    pub samples: Option<u32>,
    /// How many ACKs a scripted path gives, which then replaces the network.
    pub acks: Option<u32>,
    /// What carries the flows.
    pub on: On,
}

impl Expanded {
    /// The case of that name.
    pub(crate) fn case(&self, name: &str) -> Result<&ExpandedCase, String> {
        let names = || self.cases.iter().map(|case| case.name.as_str());
        self.cases.iter().find(|case| case.name == name).ok_or_else(|| {
            let (hint, known) = (hint(name, names()), names().collect::<Vec<_>>().join(", "));
            format!("no case `{name}`{hint}; there are {known}")
        })
    }
}

impl ExpandedCase {
    /// The variant under that control, or the only one there is.
    pub(crate) fn variant(&self, control: Option<&str>) -> Result<&Variant, String> {
        let names = || self.variants.iter().map(|variant| variant.control.as_str());
        let known = || names().collect::<Vec<_>>().join(", ");
        match (control, &self.variants[..]) {
            (None, [only]) => Ok(only),
            (None, _) => Err(format!("case `{}` needs a `control` of {}", self.name, known())),
            (Some(name), variants) => {
                variants.iter().find(|variant| variant.control == name).ok_or_else(|| {
                    format!("case `{}` has no control `{name}`; it has {}", self.name, known())
                })
            }
        }
    }
}

/// Reads every paper among `files`, in their order.
///
/// # Errors
/// A file or a scenario in it is wrong.
pub(crate) fn load(files: &[(&str, &str)], quick: bool) -> Result<Vec<Paper>, ReproduceError> {
    let heads = files.iter().filter_map(|(path, text)| Some((path.strip_suffix(HEAD)?, *text)));
    let mut papers = Vec::new();
    for (dir, text) in heads {
        papers.push(load_paper(dir, text, files, quick)?);
    }
    papers.sort_by_key(|paper| paper.head.place);
    Ok(papers)
}

const HEAD: &str = "/paper.toml";

/// A paper in a few words, with the year, by its short name, which is the folder of its files.
pub(crate) fn label(paper: &str) -> String {
    let text = FILES.iter().find(|(path, _)| *path == format!("{paper}{HEAD}"));
    let head = text.and_then(|(_, text)| toml::from_str::<Head>(text).ok());
    head.map_or_else(|| paper.to_owned(), |head| head.label)
}

fn load_paper(
    dir: &str,
    text: &str,
    files: &[(&str, &str)],
    quick: bool,
) -> Result<Paper, ReproduceError> {
    let place = format!("papers/{dir}{HEAD}");
    let head: Head = read(&place, text)?;
    let mut rest: BTreeSet<&str> = files
        .iter()
        .filter_map(|(path, _)| path.strip_prefix(dir)?.strip_prefix('/')?.strip_suffix(".toml"))
        .filter(|stem| *stem != "paper")
        .collect();
    let mut experiments = Vec::new();
    for stem in &head.order {
        let path = format!("{dir}/{stem}.toml");
        let found = files.iter().find(|(name, _)| *name == path);
        let Some((_, text)) = found.filter(|_| rest.remove(stem.as_str())) else {
            let problem = format!("`order` names `{stem}` twice, or there is no {stem}.toml");
            return Err(ReproduceError::paper(&place, problem));
        };
        experiments.push(expand(stem, &format!("papers/{path}"), text, &head, quick)?);
    }
    match rest.first() {
        Some(stem) => Err(ReproduceError::paper(&place, format!("`order` lacks `{stem}`"))),
        None => Ok(Paper { head, experiments }),
    }
}

fn read<T: DeserializeOwned>(path: &str, text: &str) -> Result<T, ReproduceError> {
    toml::from_str(text).map_err(|error| ReproduceError::paper(path, error.to_string()))
}

fn expand(
    stem: &str,
    path: &str,
    text: &str,
    head: &Head,
    quick: bool,
) -> Result<Expanded, ReproduceError> {
    let mut data: Experiment = read(path, text)?;
    let mut base = head.scenario.clone();
    merge(&mut base, data.scenario.clone());
    let text = toml::to_string(&base)
        .map_err(|error| ReproduceError::paper(path, format!("[scenario]: {error}")))?;
    let document = Document::parse(&text, path)?;
    let sweeps = std::mem::take(&mut data.sweeps);
    let swept = sweeps.iter().flat_map(|sweep| {
        sweep.values.iter().map(|value| case_of(sweep, value)).collect::<Vec<_>>()
    });
    let prefix = format!("{}-{stem}", head.name);
    let mut cases: Vec<ExpandedCase> = Vec::new();
    for case in data.cases.iter().cloned().chain(swept) {
        let expanded = expand_case(&prefix, &case, &document, &data, quick);
        let expanded = expanded.map_err(|error| match error {
            ReproduceError::Paper { problem, .. } => ReproduceError::paper(path, problem),
            other => other,
        })?;
        if cases.iter().any(|other| other.name == expanded.name) {
            let problem = format!("two cases are called `{}`", expanded.name);
            return Err(ReproduceError::paper(path, problem));
        }
        cases.push(expanded);
    }
    if cases.is_empty() {
        return Err(ReproduceError::paper(path, "no case; accepted: [[case]] or [[sweep]]"));
    }
    Ok(Expanded { stem: stem.to_owned(), path: path.to_owned(), data, cases })
}

fn case_of(sweep: &Sweep, value: &str) -> Case {
    let mut set = sweep.set.clone();
    set.insert(sweep.key.clone(), Setting::Text(value.to_owned()));
    Case {
        name: format!("{}{value}", sweep.prefix),
        x: leading_number(value),
        set,
        controls: sweep.controls.clone(),
        seeds: sweep.seeds,
        samples: sweep.samples,
        acks: sweep.acks,
        on: sweep.on,
    }
}

fn expand_case(
    prefix: &str,
    case: &Case,
    base: &Document,
    data: &Experiment,
    quick: bool,
) -> Result<ExpandedCase, ReproduceError> {
    let mut document = base.clone();
    for (key, value) in &case.set {
        document.set(key, &value.text())?;
    }
    document.set("name", &format!("{prefix}-{}", file_name(&case.name)))?;
    document.set("source", &format!("{}, case {}", base.file(), case.name))?;
    if let Some(controls) = &case.controls {
        document.set_controls(controls)?;
    }
    let mut scenario = document.scenario()?;
    if scenario.runs.is_some() {
        let problem = "`runs` in a scenario; accepted: `seeds` of the file or of a case";
        return Err(ReproduceError::paper(base.file(), problem));
    }
    if scenario.endpoint.profile != Some(Profile::Ns2) {
        // That of the paper is not for a case with another profile.
        scenario.endpoint.ns2_release = None;
    }
    let on = case.on.unwrap_or(data.on);
    scenario.check_controls(|spec| {
        match spec.text.starts_with(OF_LINUX) && on == On::Linux {
            // Which of them a kernel has is known on its machine alone.
            true => Ok(()),
            false => Control::resolve(spec).map(drop).map_err(|error| error.to_string()),
        }
    })?;
    let names: Vec<String> = scenario.controls.iter().map(|spec| spec.text.clone()).collect();
    let seeds = if quick { 1 } else { case.seeds.unwrap_or(data.seeds).max(1) };
    let first = scenario.seed.unwrap_or(1);
    scenario.runs = Some(seeds).filter(|seeds| *seeds > 1);
    let seeded = |control: &str| -> Result<Variant, ReproduceError> {
        let mut document = document.clone();
        if !control.is_empty() {
            document.set_controls(&[control.to_owned()])?;
        }
        let mut scenarios = Vec::new();
        for seed in first..first + seeds {
            document.set("seed", &seed.to_string())?;
            scenarios.push(document.scenario()?);
        }
        let acks = case.acks.or(data.acks);
        let samples = acks.or(case.samples).or(data.samples);
        Ok(Variant { control: control.to_owned(), scenarios, samples, acks, on })
    };
    let own = [String::new()];
    let names = if names.is_empty() { &own[..] } else { &names[..] };
    let variants = names.iter().map(|name| seeded(name)).collect::<Result<Vec<_>, _>>()?;
    for variant in &variants {
        variant.scenarios[0].plans()?;
    }
    Ok(ExpandedCase {
        name: case.name.clone(),
        x: case.x,
        complete: scenario.complete()?,
        scenario,
        variants,
    })
}

/// Values of `over` replace those of `under`; tables are merged key by key.
fn merge(under: &mut toml::Table, over: toml::Table) {
    for (key, value) in over {
        match (under.get_mut(&key), value) {
            (Some(toml::Value::Table(under)), toml::Value::Table(over)) => merge(under, over),
            (_, value) => {
                under.insert(key, value);
            }
        }
    }
}

/// The number a value such as `40Mbps` begins with.
fn leading_number(value: &str) -> Option<f64> {
    let is_part = |c: char| c.is_ascii_digit() || c == '.';
    value[..value.find(|c| !is_part(c)).unwrap_or(value.len())].parse().ok()
}

/// The name with everything but letters, digits and dots as `-`.
pub(crate) fn file_name(name: &str) -> String {
    let clean = |c: char| if c.is_ascii_alphanumeric() || c == '.' { c } else { '-' };
    name.chars().map(clean).collect()
}

#[cfg(test)]
mod tests {
    use firstflight_runner::{Simulator, Transport as _};

    use super::*;

    const PAPER: &str = "name = 'p'\nid = 'P0'\nplace = 1\ntitle = 't'\nlabel = 'l'\n\
        citation = 'c'\n\
        setup = []\norder = ['a']\n\
        [scenario]\ncontrols = ['newreno']\n[scenario.path]\nrate = '1Mbps'\n";
    const EXPERIMENT: &str = "title = 't'\ntext = []\nseeds = 2\n[scenario]\nduration = '1s'\n\
        [[case]]\nname = 'plain'\n[[sweep]]\nkey = 'path.rtt'\nvalues = ['10ms', '20ms']\n";

    fn problem(paper: &str, experiment: &str) -> String {
        let files = [("p/paper.toml", paper), ("p/a.toml", experiment)];
        load(&files, false).unwrap_err().to_string()
    }

    #[test]
    fn cases_take_the_papers_scenario_the_files_and_their_own() {
        let papers = load(&[("p/paper.toml", PAPER), ("p/a.toml", EXPERIMENT)], false).unwrap();
        let cases = &papers[0].experiments[0].cases;
        let names: Vec<&str> = cases.iter().map(|case| case.name.as_str()).collect();
        assert_eq!(names, ["plain", "10ms", "20ms"]);
        assert_eq!(cases[2].x, Some(20.0));
        let complete = &cases[2].complete;
        assert_eq!(
            (complete.links[0].rate.bps(), complete.duration.ns()),
            (1_000_000, 1_000_000_000)
        );
        assert_eq!(cases[2].complete.links[0].delay.ns(), 10_000_000);
        let seeds: Vec<_> = cases[0].variants[0].scenarios.iter().map(|s| s.seed).collect();
        assert_eq!(seeds, [Some(1), Some(2)]);
    }

    #[test]
    fn no_paper_sets_a_key_without_effect() {
        let papers = load(FILES, true).unwrap();
        let expanded = papers.iter().flat_map(|paper| &paper.experiments);
        let idle: Vec<String> = expanded
            .flat_map(|expanded| expanded.cases.iter().map(move |case| (expanded, case)))
            .filter_map(|(expanded, case)| {
                let problem = Simulator::TCP.check_keys(&case.scenario).err()?;
                Some(format!("{}, case {}: {problem}", expanded.path, case.name))
            })
            .collect();
        assert!(idle.is_empty(), "{}", idle.join("\n"));
    }

    #[test]
    fn a_quick_reproduction_takes_one_seed() {
        let papers = load(&[("p/paper.toml", PAPER), ("p/a.toml", EXPERIMENT)], true).unwrap();
        assert_eq!(papers[0].experiments[0].cases[0].variants[0].scenarios.len(), 1);
    }

    #[test]
    fn errors_name_the_file_and_what_is_accepted() {
        let unknown = problem(PAPER, "title = 't'\ntext = []\ncases = []\n");
        assert!(unknown.starts_with("papers/p/a.toml: "), "{unknown}");
        assert!(unknown.contains("unknown field `cases`"), "{unknown}");
        let measure = format!(
            "{EXPERIMENT}[[claim]]\nid = 'P0-1'\nwhat = ''\nclass = 'tight'\nexpected = 1\n\
             check = [{{ measure = 'thruput' }}]\n"
        );
        let measure = problem(PAPER, &measure);
        assert!(measure.contains("unknown variant `thruput`, expected one of `throughput`"));
        let twice = EXPERIMENT.replace("'10ms', '20ms'", "'10ms', '10ms'");
        assert!(problem(PAPER, &twice).ends_with("two cases are called `10ms`"));
        let key = EXPERIMENT.replace("path.rtt", "path.rt");
        assert!(problem(PAPER, &key).contains("did you mean"), "{}", problem(PAPER, &key));
        let control = EXPERIMENT.replace("name = 'plain'", "name = 'plain'\ncontrols = ['newrno']");
        assert!(problem(PAPER, &control).contains("newreno"), "{}", problem(PAPER, &control));
        assert!(problem(&PAPER.replace("'a'", "'b'"), EXPERIMENT).contains("no b.toml"));
        assert!(problem(&PAPER.replace("'a'", ""), EXPERIMENT).contains("`order` lacks `a`"));
    }
}
