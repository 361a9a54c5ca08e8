"""The action for other projects' CI: the steps of action.yml as written, in a clean folder."""

import json
import os
import re
import shutil
import subprocess
import sysconfig
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
ACTION = yaml.safe_load((ROOT / "action.yml").read_text())


def carry_out(folder, **given):
    """Runs the steps as a runner does; their exit code and what they wrote for it."""
    inputs = {name: entry["default"] for name, entry in ACTION["inputs"].items()}
    assert given.keys() <= inputs.keys()
    inputs |= {"program": "firstflight"} | given
    paths = {"GITHUB_STEP_SUMMARY": "summary.md", "GITHUB_OUTPUT": "output", "RUNNER_TEMP": "temp"}
    env = {name: str(folder / path) for name, path in paths.items()}
    env |= {"PATH": f"{sysconfig.get_path('scripts')}:/usr/bin:/bin", "LC_ALL": "C.UTF-8"}
    for step in ACTION["runs"]["steps"]:
        condition = step.get("if", "inputs.program == ''")
        assert condition == "inputs.program == ''"
        if "if" in step and inputs["program"]:
            continue
        own = {name: expanded(text, inputs) for name, text in step.get("env", {}).items()}
        assert "${{" not in step["run"], "what others write gets into a script"
        shell = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
        done = subprocess.run(shell, cwd=folder, env=env | own, timeout=120, check=False)
        if done.returncode:
            break
    output = (folder / "output").read_text().splitlines()
    summary = folder / "summary.md"
    text = summary.read_text() if summary.exists() else ""
    return done.returncode, dict(line.split("=", 1) for line in output), text


def expanded(text, inputs):
    return re.sub(r"\$\{\{ inputs\.(\w+) \}\}", lambda found: inputs[found[1]], text)


@pytest.fixture(autouse=True)
def bash():
    if shutil.which("bash") is None:
        pytest.skip("there is no bash, which runs the steps of the action")


def test_a_control_is_judged_and_compared_with_a_stored_judgement(tmp_path):
    asked = {"control": "hystart", "flags": "--only A1"}
    code, output, summary = carry_out(tmp_path, **asked)
    assert code == 0 and summary.startswith("### hystart on sim, 1 scenario: R1 fast in 1 of 1")
    assert output.keys() == ACTION["outputs"].keys()
    for file in output.values():
        assert (tmp_path / file).stat().st_size > 1000
    stored = tmp_path / "stored.json"
    stored.write_bytes((tmp_path / output["judgement"]).read_bytes())
    os.truncate(tmp_path / "output", 0)
    asked |= {"control": "hystart-pp", "baseline": "stored.json", "sarif": "found.sarif"}
    code, _, summary = carry_out(tmp_path, **asked)
    assert code == 1 and "- A1-one-flow R5 not dominated: pass before, now fail" in summary
    results = json.loads((tmp_path / "found.sarif").read_text())["runs"][0]["results"]
    assert {one["baselineState"] for one in results} == {"new"}


def test_what_the_user_writes_arrives_as_written(tmp_path):
    program = tmp_path / "program"
    program.write_text('#!/bin/sh\nprintf "%s\\n" "$@" > words\n')
    program.chmod(0o755)
    server = "a 'b' $(touch oops) {port}"
    carry_out(tmp_path, program="./program", server=server, client="c", flags="--only A* --upload")
    words = (tmp_path / "words").read_text().splitlines()
    assert words[:4] == ["judge", "--only", "A*", "--upload"]
    assert words[words.index("--server") + 1] == server
    assert not (tmp_path / "oops").exists()


def test_a_wrong_control_ends_the_job(tmp_path):
    code, _, summary = carry_out(tmp_path, control="hystartpp")
    assert (code, summary) == (2, "")
