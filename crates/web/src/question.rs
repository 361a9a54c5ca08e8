//! The questions of the page, and who answers each.

use std::collections::BTreeMap;
use std::path::PathBuf;

use firstflight_advise::{Request, Stack, advise};
use firstflight_answers::{comparison, json, judge, scenario};
use firstflight_core::needs::Fit;
use firstflight_results::Series;
use firstflight_runner::{Options, RunError, Simulator};
use firstflight_scenario::{Document, Files, PathFlags, Scenario};
use serde::{Deserialize, Serialize};

use crate::compared::compared;
use crate::followed::followed;
use crate::lists::lists;
use crate::shown::{Path, shown};

/// What the page can ask.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
enum Question {
    /// What there is: controls, scenarios of the catalogue, keys of a path.
    Lists {},
    /// Controls on a path of flags, with curves.
    Compare { controls: Vec<String>, path: Vec<(String, String)>, samples: u32 },
    /// The ways of the first packets of each control on a path of flags.
    Follow { controls: Vec<String>, path: Vec<(String, String)>, packets: usize },
    /// The ways of the first packets of each control of a scenario as text.
    FollowScenario { name: String, packets: usize },
    /// A scenario as text, with curves; the file is its text.
    Scenario { name: String, samples: u32 },
    /// The document of `run --json`; the file is the scenario's text, and `files` has what it
    /// names, by the paths as they are from where it lies.
    Run { name: String, files: BTreeMap<String, String> },
    /// The files of `run --trace`, flows and links of every run in turn, as a list of texts.
    Traces { name: String, files: BTreeMap<String, String>, samples: u32 },
    /// The document of `judge --json`.
    Judge { control: String, only: Vec<String>, seeds: Option<u64> },
    /// The document of `advise --json`.
    Advise { stack: String, shared: bool, path: Vec<(String, String)> },
    /// A connection that was recorded, with the references where its path is known.
    Show { name: String, connection: Option<usize>, path: Option<Path>, samples: u32 },
    /// The document of `show --json`.
    Record { name: String },
}

/// Answers a question, which is JSON; `file` holds the bytes of the file that it is about.
///
/// # Errors
/// What is wrong with the question or the file, in words for people.
pub fn answer(question: &[u8], file: &[u8]) -> Result<String, String> {
    // By way of a value, as the answers: what reads text is compiled once.
    let question = serde_json::from_slice(question)
        .and_then(serde_json::from_value::<Question>)
        .map_err(|error| format!("the question cannot be read: {error}"))?;
    let text = || std::str::from_utf8(file).map_err(|_| wrong("the file is not UTF-8 text"));
    let answer = match question {
        Question::Lists {} => lists(),
        Question::Compare { controls, path, samples } => {
            on_path(&controls, &path).and_then(|scenario| compared(&scenario, samples))
        }
        Question::Follow { controls, path, packets } => {
            on_path(&controls, &path).and_then(|scenario| followed(&scenario, packets))
        }
        Question::FollowScenario { name, packets } => {
            text().and_then(|text| followed(&read(text, &name, Files::in_memory([]))?, packets))
        }
        Question::Scenario { name, samples } => {
            text().and_then(|text| compared(&read(text, &name, Files::in_memory([]))?, samples))
        }
        Question::Run { name, files } => text().and_then(|text| {
            let scenario = read(text, &name, in_memory(files))?;
            let ran = firstflight_answers::run(&scenario, &Simulator::TCP, &alone())?;
            ran.report.results().to_json().map_err(|error| wrong(&error.to_string()))
        }),
        Question::Traces { name, files, samples } => {
            text().and_then(|text| traces(&read(text, &name, in_memory(files))?, samples))
        }
        Question::Judge { control, only, seeds } => {
            let request = firstflight_answers::Request {
                control: &control,
                only: &only,
                seeds,
                ..Default::default()
            };
            judge(&request, &Simulator::TCP, &alone())
        }
        Question::Advise { stack, shared, path } => {
            flags(&path).and_then(|path| advised(&stack, shared, &path))
        }
        Question::Show { name, connection, path, samples } => {
            shown(&name, file, connection, path.as_ref(), samples)
        }
        Question::Record { name } => crate::shown::document(&name, file),
    };
    answer.map_err(|error| error.to_string())
}

fn on_path(controls: &[String], path: &[(String, String)]) -> Result<Scenario, RunError> {
    comparison(controls, &flags(path)?, &Simulator::TCP)
}

fn read(text: &str, name: &str, files: Files) -> Result<Scenario, RunError> {
    let document = Document::parse_among(text, name, files)?;
    scenario(document, &PathFlags::default(), &Simulator::TCP)
}

fn in_memory(files: BTreeMap<String, String>) -> Files {
    Files::in_memory(files.into_iter().map(|(path, text)| (PathBuf::from(path), text.into())))
}

fn traces(scenario: &Scenario, samples: u32) -> Result<String, RunError> {
    let options = Options { samples: Some(samples), ..alone() };
    let report = firstflight_answers::run(scenario, &Simulator::TCP, &options)?.report;
    let all = report.runs.iter().flat_map(|run| run.flows.iter().chain(&run.queues));
    let csv = |series: &Series| {
        let mut bytes = Vec::new();
        series.write_csv(&mut bytes).map_err(|error| wrong(&error.to_string()))?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    };
    compact(&all.map(csv).collect::<Result<Vec<_>, RunError>>()?)
}

fn flags(given: &[(String, String)]) -> Result<PathFlags, RunError> {
    let mut flags = PathFlags::default();
    for (name, value) in given {
        if !flags.set(name, value.as_str()) {
            return Err(wrong(&format!("{}: no flag of a path", name.escape_debug())));
        }
    }
    Ok(flags)
}

fn advised(stack: &str, shared: bool, path: &PathFlags) -> Result<String, RunError> {
    let found = STACKS.into_iter().find(|known| known.name() == stack);
    let found = found.ok_or_else(|| {
        let accepted = STACKS.map(Stack::name).join(", ");
        wrong(&format!("{}: no stack; accepted: {accepted}", stack.escape_debug()))
    })?;
    let request = Request::new(found, shared, path)?;
    let controls = found.controls(|card, needs| match found {
        Stack::Linux => card.kernel.is_some(),
        _ => !matches!(needs.on(firstflight_sim::PROVIDES), Fit::Lacks(_)),
    });
    json(&advise(&request, &controls, &alone())?)
}

/// An answer that only the page reads.
pub(crate) fn compact(answer: &impl Serialize) -> Result<String, RunError> {
    // By way of a value: what writes text is compiled once, and not for each answer.
    let value = serde_json::to_value(answer).map_err(|error| wrong(&error.to_string()))?;
    Ok(value.to_string())
}

/// A problem of what was asked.
pub(crate) fn wrong(problem: &str) -> RunError {
    RunError::Input(problem.to_owned())
}

/// A page has one thread for it.
pub(crate) fn alone() -> Options<'static> {
    Options { serial: true, ..Options::default() }
}

/// quinn's own controllers are not in the module.
const STACKS: [Stack; 2] = [Stack::Linux, Stack::Quic];

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(question: &str, file: &str) -> Result<serde_json::Value, String> {
        answer(question.as_bytes(), file.as_bytes())
            .map(|text| serde_json::from_str(&text).unwrap())
    }

    fn ask_of(question: &str) -> serde_json::Value {
        ask(question, "").unwrap()
    }

    #[test]
    fn what_is_no_question_and_no_path_ends_in_a_message() {
        for (question, message) in [
            ("", "the question cannot be read"),
            (r#"{"fly":{}}"#, "unknown variant `fly`"),
            (
                r#"{"compare":{"controls":["cubic"],"path":[["--rat","1"]],"samples":9}}"#,
                "--rat: no flag",
            ),
            (
                r#"{"compare":{"controls":["cubic"],"path":[["--rate","-1"]],"samples":9}}"#,
                "--rate -1: ",
            ),
            (r#"{"compare":{"controls":["<b>"],"path":[],"samples":9}}"#, "accepted: "),
            (r#"{"advise":{"stack":"bsd","shared":false,"path":[]}}"#, "accepted: linux, quic"),
            (r#"{"scenario":{"name":"x","samples":9}}"#, "the file is empty"),
            (r#"{"show":{"name":"x","connection":null,"path":null,"samples":9}}"#, "x"),
        ] {
            let refused = ask(question, "").unwrap_err();
            assert!(refused.contains(message), "{question}: {refused}");
        }
    }

    #[test]
    fn slow_start_overshoots_and_the_marks_say_when() {
        let question = r#"{"compare":{"controls":["newreno","hystart-pp"],
            "path":[["--rate","50Mbps"],["--rtt","40ms"],["--duration","3s"]],"samples":300}}"#;
        let all = ask(question, "").unwrap();
        let run = &all["runs"][0];
        let times = run["flows"][0]["time_s"].as_array().unwrap();
        assert!(times.len() > 200, "{}", times.len());
        let moments = run["moments"][0].as_array().unwrap();
        let first = |what: &str| moments.iter().find(|it| it["what"] == what).unwrap();
        let [lost, exit] = ["lost", "exit"].map(|what| first(what)["time_s"].as_f64().unwrap());
        assert!(lost < exit && exit < lost + 0.2, "a loss is heard of later: {lost}, {exit}");
        assert!(all["words"].as_array().unwrap().len() > 2);
        assert!(all["toml"].as_str().unwrap().contains("rate = \"50Mbps\""));
    }

    #[test]
    fn packets_are_followed_to_the_loss_that_the_marks_show() {
        let path = r#"[["--rate","10Mbps"],["--rtt","40ms"],["--duration","1s"]]"#;
        let request = |ask: &str, more: &str| {
            ask_of(&format!(r#"{{"{ask}":{{"controls":["newreno"],"path":{path},{more}}}}}"#))
        };
        let (ways, drawn) =
            (request("follow", "\"packets\":5000"), request("compare", "\"samples\":900"));
        let packets = ways[0]["packets"].as_array().unwrap();
        let lost: Vec<f64> = packets.iter().filter_map(|it| it[5].as_f64()).collect();
        let moments = drawn["runs"][0]["moments"][0].as_array().unwrap();
        let marked = moments.iter().filter(|it| it["what"] == "lost");
        let counted: u64 = marked.map(|it| it["count"].as_u64().unwrap()).sum();
        assert!(counted > 10 && lost.len() as u64 == counted, "{} {counted}", lost.len());
        assert_eq!(lost.iter().copied().reduce(f64::min), moments[0]["time_s"].as_f64());
        let few = request("follow", "\"packets\":7");
        assert_eq!(
            (few[0]["packets"].as_array().unwrap().len(), &few[0]["is_full"]),
            (7, &true.into())
        );
    }
}
