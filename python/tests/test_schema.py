"""The JSON Schemas of files, beside a validator and the files of this repository."""

import json
from pathlib import Path

import tomllib
from jsonschema import Draft202012Validator

ROOT = Path(__file__).parents[2]


def test_every_file_of_the_repository_fits_its_schema(command):
    validators = {}
    for name in ("scenario", "sweep", "results"):
        schema = json.loads(command("schema", name).stdout)
        Draft202012Validator.check_schema(schema)
        validators[name] = Draft202012Validator(schema)
    files = [*(ROOT / "scenarios").rglob("*.toml"), *(ROOT / "papers/scout").rglob("*.toml")]
    read = {file: tomllib.loads(file.read_text()) for file in files}
    count = {"scenario": 0, "sweep": 0}
    for file, content in read.items():
        is_sweep = not {"grid", "sample", "points"}.isdisjoint(content)
        kind = "sweep" if is_sweep else "scenario"
        if file.is_relative_to(ROOT / "papers") and not is_sweep:
            continue
        count[kind] += 1
        errors = [
            f"{error.json_path}: {error.message}" for error in validators[kind].iter_errors(content)
        ]
        assert not errors, f"{file}: {errors}"
    assert count["scenario"] > 100 and count["sweep"] > 5, count


def test_documents_and_the_files_of_papers_fit_theirs(command):
    def validator(name):
        schema = json.loads(command("schema", name).stdout)
        Draft202012Validator.check_schema(schema)
        return Draft202012Validator(schema)

    judged = command("judge", "hystart", "--only", "A1", "--quick", "--json").stdout
    validator("judgement").validate(json.loads(judged))
    validator("list").validate(json.loads(command("list", "--json").stdout))
    papers = validator("papers")
    count = 0
    for file in (ROOT / "papers").glob("*/*.toml"):
        content = tomllib.loads(file.read_text())
        if {"grid", "side"}.isdisjoint(content):
            papers.validate(content)
            count += 1
    assert count > 50
    claim = {"id": "x", "what": "x", "class": "tigt", "expected": 1}
    wrong = {"title": "x", "text": [], "claim": [claim]}
    assert list(papers.iter_errors(wrong))
    claim["class"] = "tight"
    assert not list(papers.iter_errors(wrong))


def test_a_wrong_key_and_a_wrong_word_are_found(command):
    validator = Draft202012Validator(json.loads(command("schema", "scenario").stdout))
    wrong = [
        {"path": {"rat": "40Mbps"}},
        {"recovery": "rak"},
        {"path": {"rate": 40}},
        {"flow": [{"count": 0}]},
        {"link": [{"drop": [0]}]},
    ]
    for content in wrong:
        assert list(validator.iter_errors(content)), content
    assert not list(validator.iter_errors({"flow": [{"count": 2}], "controls": ["mine"]}))
