"""Calls, their results and errors, beside the command line."""

import json
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import firstflight as ff
import pytest
from conftest import without_cost

ROOT = Path(__file__).parents[2]
PATH = {"rate": "10Mbps", "rtt": "50ms", "buffer": "0.5bdp", "size": "500kB", "duration": "5s"}
FLAGS = [word for name, value in PATH.items() for word in (f"--{name}", value)]


@pytest.mark.parametrize("on", ["sim", "quic", "noq"])
def test_compare_gives_the_bytes_of_the_command_line(command, on):
    controls = ["hystart", "rapid-start"]
    printed = command("compare", *controls, *FLAGS, "--json", "--on", on)
    assert printed.returncode == 0, printed.stderr
    assert without_cost(printed.stdout) != printed.stdout
    assert ff.compare(controls, on=on, **PATH).json() == without_cost(printed.stdout)


def test_defaults_are_the_commands(command):
    printed = command("compare", "--json", "--duration", "1s")
    assert ff.compare(duration="1s").json() == without_cost(printed.stdout)


def test_run_gives_the_bytes_of_the_command_line(command):
    file = ROOT / "scenarios" / "fast-start.toml"
    printed = command("run", str(file), "--json", "--duration", "3s", "--seed", "2")
    assert ff.run(file, duration="3s", seed=2).json() == without_cost(printed.stdout)


def test_a_dict_is_a_scenario_file(tmp_path):
    tree = {
        "controls": ["newreno", "astart"],
        "duration": "2s",
        "path": {"rate": "10Mbps", "rtt": "50ms", "loss": "0.1%"},
        "flow": [{"size": "1MB"}, {"start": "500ms", "count": 2}],
    }
    file = tmp_path / "scenario.toml"
    file.write_text(
        'controls = ["newreno", "astart"]\nduration = "2s"\n'
        '[path]\nrate = "10Mbps"\nrtt = "50ms"\nloss = "0.1%"\n'
        '[[flow]]\nsize = "1MB"\n[[flow]]\nstart = "500ms"\ncount = 2\n'
    )
    assert ff.run(tree).json() == ff.run(str(file)).json()
    assert len(ff.run(tree).flows) == 6


def test_a_number_with_its_unit_is_a_quantity():
    path = {"rate": (10, "Mbps"), "rtt": (0.05, "s"), "buffer": (0.5, "bdp"), "duration": (2, "s")}
    texts = {"rate": "10Mbps", "rtt": "50ms", "buffer": "0.5bdp", "duration": "2s"}
    assert ff.compare(["hoe"], **path).json() == ff.compare(["hoe"], **texts).json()
    tree = {"controls": ("hoe", "astart"), "duration": (2, "s"), "path": {"rate": (1e7, "bps")}}
    same = {"controls": ["hoe", "astart"], "duration": "2s", "path": {"rate": "10Mbps"}}
    assert ff.run(tree).json() == ff.run(same).json()
    for wrong, message in (((10, "ms"), "--rate 10ms"), ((float("nan"), "Mbps"), "--rate NaNMbps")):
        with pytest.raises(ff.Error, match=message):
            ff.compare(["hoe"], rate=wrong)
    for wrong in ((True, "Mbps"), (10, 20), (10,), (10, "Mbps", 3)):
        with pytest.raises(ff.Error, match=r"rate: found .*accepted: text with a unit"):
            ff.compare(["hoe"], rate=wrong)


def test_an_expectation_that_does_not_hold_is_reported():
    tree = {"duration": "1s", "controls": ["hoe"], "expect": [{"jain_index": "< 0.5"}]}
    assert len(ff.run(tree).unmet) == 1 and "jain_index" in ff.run(tree).unmet[0]
    tree["expect"] = [{"jain_index": ">= 0.9"}]
    assert ff.run(tree).unmet == []
    tree["expect"] = [{"jain_index": "== 2"}]
    with pytest.raises(ff.Error, match="no value is so"):
        ff.run(tree)


def test_predict_and_list_are_the_commands(command):
    assert ff.predict(rtt="600ms") == json.loads(
        command("predict", "--rtt", "600ms", "--json").stdout
    )
    assert ff.list("astart") == json.loads(command("list", "astart", "--json").stdout)
    with pytest.raises(ff.Error, match="did you mean `astart`"):
        ff.list("astrt")


def test_an_advice_is_the_commands(command):
    words = ("advise", "--rate", "10Mbps", "--rtt", "50ms", "--size", "200KB", "--shared", "--json")
    done = []
    path = {"rate": (10, "Mbps"), "rtt": "50ms", "size": "200KB"}
    found = ff.advise(**path, shared=True, progress=lambda *points: done.append(points))
    assert found == json.loads(command(*words).stdout)
    assert found["schema"] == "firstflight/advise@1" and done[-1] == (32, 32)
    with pytest.raises(ff.Error, match="--iw 3"):
        ff.advise(**path, iw=3)


def test_a_judgement_is_the_commands(command, tmp_path):
    out = str(tmp_path / "out")
    words = ("judge", "scout", "--against", "bbr", "--only", "A1,C3", "--json", "--out", out)
    printed = command(*words)
    done = []
    found = ff.judge(
        "scout", against=["bbr"], only=["A1", "C3"], progress=lambda *runs: done.append(runs)
    )
    assert found == json.loads(printed.stdout)
    assert found["scenarios"][0]["verdicts"]["R2"] == "pass" and done[-1] == (10, 10)
    with pytest.raises(ff.Error, match="did you mean `hystart-pp`"):
        ff.judge("hystartpp")
    with pytest.raises(ff.Error, match="no scenario of the catalogue"):
        ff.judge("cubic", only="Q")


def test_a_start_up_in_python_is_judged():
    class Judged(ff.Startup):
        name = "judged-here"

        def on_ack(self, view):
            return view.cwnd + view.acked

    found = ff.judge(Judged, only="A3b")
    assert found["control"] == "judged-here"
    assert found["scenarios"][0]["measured"]["completion_s"] > 15


def test_claims_are_the_commands(command, tmp_path):
    out, cache = str(tmp_path / "out"), str(tmp_path / "cache")
    printed = command("reproduce", "S0-T1c", "--json", "--out", out, "--cache", cache)
    result = ff.reproduce("S0-T1c", cache=cache)
    assert result.json() == printed.stdout
    assert [row["id"] for row in result.rows] == ["S0-T1c"] and len(result) == 1
    assert "S0-T1c" in result._repr_html_()
    with pytest.raises(ff.Error, match="accepted"):
        ff.reproduce("S0-T99")


@pytest.mark.parametrize(
    ("arguments", "flags"),
    [
        ({"rate": 40}, ["--rate", "40"]),
        ({"rate": "40Mbit"}, ["--rate", "40Mbit"]),
        ({"rtt": -1}, ["--rtt", "-1"]),
        ({"loss": "150%"}, ["--loss", "150%"]),
        ({"seed": "x"}, ["--seed", "x"]),
        ({"profile": "windows"}, ["--profile", "windows"]),
        ({"pacing": 3}, ["--pacing", "3"]),
        ({"on": "sims"}, ["--on", "sims"]),
    ],
)
def test_bad_input_has_the_commands_message(command, arguments, flags):
    with pytest.raises(ff.Error) as caught:
        ff.compare(["astart"], **arguments)
    printed = command("compare", "astart", *flags)
    assert printed.returncode == 2
    assert f"firstflight: {caught.value}" == printed.stderr.strip()
    assert isinstance(caught.value, ValueError)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ff.compare(["astrt"]), "did you mean `astart`"),
        (lambda: ff.compare(["astart", "astart"]), "astart"),
        (lambda: ff.compare([3]), "a subclass of Startup"),
        (lambda: ff.compare([object]), "a subclass of Startup"),
        (lambda: ff.compare(["a"], speed="1Mbps"), "unknown argument `speed`"),
        (lambda: ff.compare(["astart"], rate=float("nan")), "--rate NaN"),
        (lambda: ff.compare(["astart"], rate=[1, 2]), r"rate: found \[1, 2\]"),
        (lambda: ff.compare(["astart"], rate=b"40Mbps"), "accepted: text with a unit"),
        (lambda: ff.compare(["astart"], on="linux"), "accepted here: sim, quic, noq"),
        (lambda: ff.run("/nowhere.toml"), "no such file"),
        (lambda: ff.run({"controls": ["hoe"], "path": {"rate": 3}}), "path.rate = 3"),
        (lambda: ff.run({"controls": ["hoe"], "pth": {"rate": "3Mbps"}}), "pth"),
        (lambda: ff.run({3: 4}), "no text"),
        (lambda: ff.run({}), "no control"),
        (lambda: ff.predict(rate="fast"), "--rate fast"),
    ],
)
def test_bad_input_is_an_error_that_names_it(call, message, no_thread_left):
    with pytest.raises(ff.Error, match=message):
        call()


def test_a_scenario_that_holds_itself_is_an_error():
    tree = {"controls": ["hoe"]}
    tree["path"] = tree
    with pytest.raises((ff.Error, RecursionError)):
        ff.run(tree)


def test_a_full_disk_and_a_missing_folder_are_errors(tmp_path):
    table = ff.compare(["hoe"], **PATH).flows
    with pytest.raises(OSError, match="nowhere"):
        table.to_csv(tmp_path / "nowhere" / "x.csv")
    if Path("/dev/full").exists():
        with pytest.raises(OSError, match="/dev/full"):
            table.to_csv("/dev/full")


def test_the_keywords_are_the_commands_flags():
    stub = (Path(ff.__file__).parent / "__init__.pyi").read_text()
    typed = re.search(r"class Path.*?\n\n(.*?)\n\n", stub, re.DOTALL)[1]
    names = re.findall(r"^    (\w+):", typed, re.MULTILINE)
    flags = [flag["name"][2:].replace("-", "_") for flag in ff.list()["path_flags"]]
    assert names == flags, "python/firstflight/__init__.pyi has what a call of `compare` takes"
    for name in names:
        assert f"\n        {name} = " in ff.compare.__doc__


def test_progress_is_reported(capsys):
    reports = []
    ff.compare(["hoe", "astart"], runs=3, progress=lambda *all: reports.append(all), **PATH)
    assert reports[-1] == (6, 6)
    ff.compare(["hoe", "astart"], progress=True, **PATH)
    assert capsys.readouterr().err.endswith("2 of 2 runs, 0 s left \n")
    with pytest.raises(ZeroDivisionError):
        ff.compare(["hoe"], progress=lambda *_: 1 / 0, **PATH)


def test_the_interpreter_goes_on_during_a_run():
    done = threading.Event()
    work = {"rate": "200Mbps", "duration": "20s"}
    thread = threading.Thread(target=lambda: (ff.compare(["astart"], **work), done.set()))
    thread.start()
    turns = 0
    while not done.is_set():
        turns += 1
    thread.join()
    assert turns > 1000


LONG = """
import firstflight as ff, signal, sys, threading
# A job in the background of a shell ignores it.
signal.signal(signal.SIGINT, signal.default_int_handler)
print("begun", flush=True)
try:
    ff.compare(["astart"], rate="10Gbps", duration="10h")
except KeyboardInterrupt:
    print("heard", threading.active_count(), ff.compare(["hoe"], duration="1s").flows["seed"])
"""


def test_ctrl_c_ends_a_long_run_and_the_next_call_works():
    child = subprocess.Popen([sys.executable, "-c", LONG], stdout=subprocess.PIPE, text=True)
    assert child.stdout.readline() == "begun\n"
    time.sleep(1)
    begun = time.monotonic()
    child.send_signal(signal.SIGINT)
    assert child.communicate(timeout=60)[0] == "heard 1 [1]\n"
    assert time.monotonic() - begun < 20


FORK = """
import multiprocessing, firstflight as ff
def child(queue): queue.put(ff.compare(["hoe", "astart"], duration="1s").json())
if __name__ == "__main__":
    here = ff.compare(["hoe", "astart"], duration="1s").json()
    for method in ("fork", "spawn"):
        context = multiprocessing.get_context(method)
        queue = context.Queue()
        process = context.Process(target=child, args=(queue,))
        process.start()
        assert queue.get(timeout=60) == here, method
        process.join()
    print("equal")
"""


def test_children_of_a_fork_give_the_same(tmp_path):
    file = tmp_path / "fork.py"
    file.write_text(FORK)
    run = subprocess.run([sys.executable, file], capture_output=True, text=True, timeout=120)
    assert run.stdout == "equal\n", run.stderr


def test_import_takes_little():
    run = subprocess.run(
        [sys.executable, "-X", "importtime", "-c", "import firstflight"],
        capture_output=True,
        text=True,
        check=True,
    )
    modules = [line.rsplit("|", 1)[1].strip() for line in run.stderr.splitlines() if "|" in line]
    heavy = {"numpy", "pyarrow", "matplotlib", "pandas", "polars", "inspect", "ctypes"}
    assert heavy.isdisjoint(modules)
    # CPU time of the whole program, which other work on the machine does not change.
    line = [sys.executable, "-c", "import firstflight, time; print(time.process_time())"]
    took = [float(subprocess.check_output(line)) for _ in range(3)]
    assert min(took) < 0.2
