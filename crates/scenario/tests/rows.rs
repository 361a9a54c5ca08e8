//! Every place that lists keys is held to their rows. `UPDATE_KEYS=1 cargo test -p
//! firstflight-scenario rows` writes those that are files.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::path::PathBuf;

use firstflight_link::{Card, Discipline};
use firstflight_scenario::keys::{FLOW_KEYS, Key, Kind, SWITCHES, Stack, StackInUse};
use firstflight_scenario::{Complete, Ns2Release, PathFlags, Profile, Scenario};

/// The text between two lines of a file below the repository's root, which the rows must yield.
fn hold(file: &str, (begin, end): (&str, &str), expected: &str) {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..").join(file);
    // A packed crate is without the rest of the repository.
    let Ok(text) = std::fs::read_to_string(&path) else { return };
    let from = text.find(begin).unwrap_or_else(|| panic!("{file}: no `{begin}`")) + begin.len();
    let until = from + text[from..].find(end).unwrap_or_else(|| panic!("{file}: no `{end}`"));
    let found = &text[from..until];
    if found == expected {
        return;
    }
    if std::env::var_os("UPDATE_KEYS").is_some() {
        let written = format!("{}{expected}{}", &text[..from], &text[until..]);
        std::fs::write(&path, written).unwrap();
        // Not by a macro, whose lines a test that passes does not show.
        let mut stderr = std::io::stderr();
        return writeln!(stderr, "{file} is written as the rows have it").unwrap();
    }
    let equal = found.lines().zip(expected.lines()).take_while(|(is, row)| is == row).count();
    let [is, row] = [found, expected].map(|text| text.lines().nth(equal).unwrap_or("nothing more"));
    let how = "UPDATE_KEYS=1 cargo test -p firstflight-scenario rows";
    panic!("{file} has\n{is}\nand the rows have\n{row}\n{how} writes it");
}

#[test]
fn the_reference_has_a_line_for_every_row() {
    let line = |key: &Key| {
        let values = Profile::ALL.map(|profile| format!("`{}`", key.value(profile.constants())));
        let words = match key.kind {
            Kind::Word(words) => format!(" One of `{}`.", words.join("`, `")),
            _ => String::new(),
        };
        let (name, doc, support) = (key.name, key.explained(), key.support.words());
        format!("| `{name}` | {} | {doc}{words} | {support} |\n", values.join(" | "))
    };
    let lines: String = Key::all().map(line).collect();
    let older = [Ns2Release::V226, Ns2Release::V21b6].map(|release| {
        let (old, new) = (release.constants(), Profile::Ns2.constants());
        let changed = old.flow.changed(&new.flow).into_iter();
        let changed = changed.chain(old.switches.changed(&new.switches));
        let words: Vec<String> =
            changed.map(|(key, value)| format!("`{}` `{value}`", key.name)).collect();
        format!("- `\"{release}\"`: {}.\n", words.join(", "))
    });
    let expected = format!(
        "\n| key | `linux` | `rfc` | `ns2` | `quic` | meaning | supported by |\n\
         | --- | --- | --- | --- | --- | --- | --- |\n{lines}\n\
         `ns2_release` says which ns-2 profile `ns2` means, as its constants changed over the \
         years: `\"2.35\"`,\nthe default, is in the table, and two older ones differ from it \
         in\n\n{}\n`\"2.1b6\"` also has the fast recovery of its time: duplicate ACKs widen the \
         window in a recovery or not, and Reno\nanswers each loss of a window by itself until a \
         timeout.\n",
        older.concat()
    );
    hold("crates/scenario/KEYS.md", MARKS, &expected);
}

#[test]
fn the_python_stub_has_an_argument_for_every_flag() {
    let argument = |flag: &firstflight_scenario::Flag| {
        let form = match flag.kind {
            Kind::Switch => "bool | str",
            Kind::Count => "int | str",
            Kind::Quantity => "_Quantity",
            Kind::Word(_) => "str",
        };
        format!("    {}: {form}\n", flag.name.trim_start_matches('-').replace('-', "_"))
    };
    let arguments: String = PathFlags::all().iter().map(argument).collect();
    let class = "or pairs of both.\"\"\"\n\n";
    hold("python/firstflight/__init__.pyi", (class, "\n_Control"), &arguments);
}

#[test]
fn the_pages_have_a_line_for_every_queue() {
    let knob = |(name, usual): &(&str, &str)| match (usual.is_empty(), usual.starts_with('(')) {
        (true, _) => format!("`{name}` (needed)"),
        (_, true) => format!("`{name}` {usual}"),
        (_, false) => format!("`{name}={usual}`"),
    };
    let knobs = |card: &Card| card.knobs.iter().map(knob).collect::<Vec<_>>().join(", ");
    let cards = Discipline::cards();
    let lines = cards.iter().map(|card| format!("| `{}` | {} |\n", card.name, knobs(card)));
    let (head, lines) =
        ("\n| --- | --- |\n| `drop-tail` | none: `buffer` |\n", lines.collect::<String>());
    let marks = ("| queue | parameters and defaults |", "\nA `limit`");
    hold("crates/scenario/KEYS.md", marks, &(head.to_owned() + &lines));
    let line = |card: &Card| format!("| `{}` | {} | {} |\n", card.name, card.about, card.sources);
    let lines: String = cards.iter().map(line).collect();
    let marks = ("| queue | what it does | source |", "\nWith `ecn=on`");
    hold("docs/queues.md", marks, &format!("\n| --- | --- | --- |\n{lines}"));
}

#[test]
fn the_fuzzer_knows_every_key() {
    let rows = Key::all().map(|key| key.name.to_owned());
    let words: String = rows.chain(keys_of_tables()).map(|key| format!("\"{key} = \"\n")).collect();
    hold("crates/fuzz/seeds/scenario.dict", ("# Keys.\n", "# Other words"), &words);
}

/// The keys that each table of a scenario has besides the rows', as its reader accepts them.
fn keys_of_tables() -> BTreeSet<String> {
    let mut keys = BTreeSet::new();
    for table in ["", "[path]", "[[link]]", "[[flow]]", "[[udp]]", "[path.back]"] {
        let error =
            Scenario::parse(&format!("{table}\nzzz = 1"), "x.toml").unwrap_err().to_string();
        let (_, accepted) = error.split_once("accepted: ").unwrap();
        keys.extend(accepted.split(", ").map(str::to_owned));
    }
    keys.retain(|key| Key::all().all(|row| row.name != key));
    keys
}

#[test]
fn the_reference_names_every_key_of_every_table() {
    let reference = include_str!("../KEYS.md");
    for key in keys_of_tables() {
        let named = [format!("`{key}`"), format!("`{key} ="), format!("[{key}]")];
        assert!(named.iter().any(|name| reference.contains(name)), "{key}");
    }
}

#[test]
fn the_default_that_the_help_names_of_a_flag_is_what_holds_without_it() {
    let with = |flags: &PathFlags| Scenario::from_flags(flags, &[]).unwrap().complete().unwrap();
    let usual = with(&PathFlags::default());
    for flag in PathFlags::all().iter().filter(|flag| flag.key != "ns2_release") {
        // Those of other profiles stand behind it; `none` and `unlimited` cannot be written.
        let default = flag.default.split(" (").next().unwrap();
        let is_word = ["none", "unlimited"].contains(&default);
        if is_word
            && !["--ssthresh", "--receiver-window", "--send-buffer"].contains(&flag.name.as_str())
        {
            continue;
        }
        let given = with(&PathFlags::from_iter([(flag.name.as_str(), default)]));
        assert_eq!(json(&given), json(&usual), "{}", flag.name);
    }
}

fn json(complete: &Complete) -> String {
    serde_json::to_string(complete).unwrap()
}

/// A value that its profile does not have.
fn other(key: &Key) -> String {
    let usual = key.value(Profile::Linux.constants());
    let candidates: Vec<String> = match key.kind {
        Kind::Switch => ["true", "false"].map(str::to_owned).into(),
        Kind::Count => vec!["2".to_owned()],
        // Above every smallest RTO, below every largest.
        Kind::Quantity if usual.ends_with('s') => vec!["17s".to_owned()],
        Kind::Quantity if usual.ends_with('B') => vec!["52B".to_owned()],
        Kind::Quantity => vec!["7pkt".to_owned()],
        Kind::Word(words) => words.iter().map(|word| (*word).to_owned()).collect(),
    };
    candidates.into_iter().find(|value| *value != usual).unwrap()
}

#[test]
fn a_file_and_a_flag_set_every_row_and_the_results_say_so() {
    let usual = Scenario::from_flags(&PathFlags::default(), &[]).unwrap();
    for key in Key::all() {
        let value = other(key);
        let flag = format!("--{}", key.name.replace('_', "-"));
        // What must be so that the key may be set.
        let also = if key.name == "ecn_feedback" { "ecn = true\n" } else { "" };
        let mut flags = PathFlags::from_iter([(flag.as_str(), value.as_str())]);
        assert!(flags.given().count() == 1, "{flag}");
        if !also.is_empty() {
            flags.set("--ecn", "true");
        }
        let by_flag = Scenario::from_flags(&flags, &["hoe".to_owned()]).unwrap();
        let written = match key.kind {
            Kind::Switch | Kind::Count => value.clone(),
            Kind::Quantity | Kind::Word(_) => format!("'{value}'"),
        };
        let text = format!("name = 'command line'\n{also}{} = {written}", key.name);
        let by_file = Scenario::parse(&text, "x.toml").unwrap();
        let complete = by_file.complete().unwrap();
        assert_eq!(by_flag.complete().unwrap().endpoint, complete.endpoint, "{}", key.name);
        let set: Vec<(&str, String)> = by_flag.set().map(|set| (set.key.name, set.text)).collect();
        assert!(set.contains(&(key.name, value)), "{set:?}");
        assert_ne!(complete, usual.complete().unwrap(), "{}", key.name);
        let words = complete.endpoints();
        let is_switch = SWITCHES.iter().any(|switch| switch.name == key.name);
        assert!(!is_switch || words.contains(key.name), "{}: {words}", key.name);
    }
}

#[test]
fn a_group_of_flows_sets_its_own() {
    for key in FLOW_KEYS {
        let value = other(key);
        let quoted = if key.kind == Kind::Count { value } else { format!("'{value}'") };
        let scenario = Scenario::parse(&format!("[[flow]]\n{} = {quoted}", key.name), "x.toml");
        let scenario = scenario.unwrap();
        let set = scenario.set().next().unwrap();
        assert_eq!(set.place, format!("flow[0].{}", key.name));
    }
}

#[test]
fn the_default_of_a_flag_is_the_profiles_value_with_those_of_others_behind_it() {
    let default = |name: &str| {
        PathFlags::all().iter().find(|flag| flag.name == name).unwrap().default.clone()
    };
    assert_eq!(default("--iw"), "10pkt (rfc: 1pkt, ns2: 2pkt)");
    assert_eq!(default("--recovery"), "rack (rfc, ns2: newreno, quic: quic)");
    assert_eq!(default("--split-acks"), "1");
}

#[test]
fn a_key_says_who_heeds_it() {
    let support = |name: &str| Key::all().find(|key| key.name == name).unwrap().support;
    assert!(
        !support("impatient").includes(Stack::Rack)
            && support("impatient").includes(Stack::NewReno)
    );
    assert_eq!(support("impatient").words(), "recovery `newreno`");
    assert_eq!(support("iw").words(), "");
    assert_eq!(support("growth_limit").words(), "the simulator");
}

#[test]
fn a_key_is_refused_where_no_flow_heeds_it_and_a_profiles_value_never_is() {
    let runs = |group, stack| {
        let switches = Profile::Linux.constants().switches;
        StackInUse { group, stack, delayed_ack: 1, rests: false, switches }
    };
    let rack = [runs(0, Stack::Rack)];
    let both = [runs(0, Stack::Rack), runs(1, Stack::NewReno)];
    let checked = |text: &str, runs: &[StackInUse]| {
        let problem = Scenario::parse(text, "x.toml").unwrap().check_support(runs).err();
        problem.map(|problem| problem.to_string())
    };
    assert_eq!(
        checked("impatient = true", &rack).unwrap(),
        "x.toml:1: impatient = true: no effect with recovery rack; accepted: with recovery newreno"
    );
    assert_eq!(checked("impatient = true", &both), None, "one flow supports it");
    assert_eq!(checked("profile = 'linux'", &rack), None, "impatient is true there too");
    let problem = checked("quick_acks = false", &rack).unwrap();
    let accepted = "the simulator's TCP, where delayed_ack is 2 or more and receiver is linux, or \
                    as false with quinn's QUIC";
    assert!(problem.ends_with(accepted), "{problem}");
    let quinn = [runs(0, Stack::Quinn)];
    assert_eq!(checked("quick_acks = false", &quinn), None, "quinn does so");
    assert!(checked("quick_acks = true", &quinn).is_some());
    let delayed = [StackInUse { delayed_ack: 2, ..rack[0] }];
    assert_eq!(checked("quick_acks = false", &delayed), None);
    let switches = Profile::Rfc.constants().switches;
    assert!(checked("quick_acks = false", &[StackInUse { switches, ..delayed[0] }]).is_some());
    let problem = checked("timer = 'linux'", &[runs(0, Stack::Quic)]).unwrap();
    let refused = "no effect with recovery quic; accepted: with the simulator's TCP";
    assert!(problem.ends_with(refused), "{problem}");
    let own = "[[flow]]\nduplicate_acks = 2\n[[flow]]\nduplicate_acks = 2";
    let problem = checked(own, &both).unwrap();
    assert!(problem.starts_with("x.toml:2: flow[0].duplicate_acks = 2: no effect"), "{problem}");
    let problem = checked("ns2_release = '2.26'", &rack).unwrap();
    assert!(problem.ends_with("no effect with profile linux; accepted: with profile ns2"));
}

const MARKS: (&str, &str) = ("<!-- rows -->\n", "<!-- end of rows -->");
