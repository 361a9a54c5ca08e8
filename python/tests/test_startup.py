"""Start-ups that are written in Python."""

import math
import signal
import subprocess
import sys
import time

import firstflight as ff
import pytest

PATH = {"rate": "10Mbps", "rtt": "50ms", "buffer": "1bdp", "duration": "3s"}


class Doubling(ff.Startup):
    """Slow start, until a loss."""

    partner = "newreno"

    def on_ack(self, view):
        return view.cwnd + view.acked


class Delay(ff.Startup):
    """Slow start until the smoothed RTT shows a queue; counts in the object."""

    def __init__(self, share=0.25):
        self.share, self.acks = share, 0

    def on_ack(self, view):
        self.acks += 1
        if view.srtt_s > (1 + self.share) * view.rtt_min_s:
            return ff.Leave(ssthresh=view.cwnd)
        return ff.Step(view.cwnd + view.acked)


def answers(value, method="on_ack"):
    """A start-up whose method answers that, or raises it."""

    def answer(self, view):
        if isinstance(value, BaseException):
            raise value
        return value

    body = {"on_ack": lambda self, view: view.cwnd + view.acked, method: answer, "name": "odd"}
    return type("Odd", (ff.Startup,), body)


def test_slow_start_in_python_is_slow_start():
    result = ff.compare([Doubling, "slow-start+newreno"], **PATH)
    mine, ours = result.flows.to_dicts()
    assert mine["alias"] == "doubling" and mine["control"] == "doubling+newreno"
    named = {"control", "alias", "preset"}
    assert {k: v for k, v in mine.items() if k not in named} == {
        k: v for k, v in ours.items() if k not in named
    }
    assert mine["exit_reason"] == "loss"


def test_it_decides_and_each_flow_has_its_own_object():
    first = ff.compare([Delay, "hystart"], flows=2, **PATH)
    assert first.flows["exit_reason"][:2] == ["heuristic", "heuristic"]
    assert first.flows["control"][0] == "delay+cubic"
    again = ff.compare([Delay, "hystart"], flows=2, **PATH)
    assert first.json() == again.json()


class Thirty(ff.Startup):
    """Slow start that leaves on its thirtieth ACK."""

    def __init__(self):
        self.acks = 0

    def on_ack(self, view):
        self.acks += 1
        return ff.Leave() if self.acks == 30 else view.cwnd + view.acked


def test_flows_do_not_share_what_is_kept_in_self():
    given = Thirty()
    assert ff.compare([given], flows=2, **PATH).flows["exit_cwnd_packets"] == [39, 39]
    assert given.acks == 0


def test_objects_with_names_differ():
    late = Delay(1.0)
    late.name = "late"
    result = ff.compare([Delay(0.1), late], **PATH)
    early, late = result.flows["exit_cwnd_packets"]
    assert result.flows["alias"] == ["delay", "late"] and early < late
    with pytest.raises(ff.Error, match="two start-ups are called 'delay'"):
        ff.compare([Delay(0.1), Delay(0.2)], **PATH)


def test_a_class_that_is_defined_again_replaces_the_first():
    first = ff.compare([answers(ff.Leave(5))], **PATH).flows["exit_cwnd_packets"]
    result = ff.compare([answers(ff.Leave(50))], **PATH)
    assert first != result.flows["exit_cwnd_packets"]
    peak = result.flows["peak_cwnd_packets"][0]
    ff.register(answers(ff.Leave(5)))
    cells = zip(result.series["variable"], result.series["value"], strict=True)
    assert max(value for variable, value in cells if variable == "cwnd_packets") == peak


def test_it_is_known_to_scenarios_and_runs_over_quic():
    tree = {"duration": "2s", "controls": [Delay, "delay+newreno"], "path": {"rate": "10Mbps"}}
    assert ff.run(tree).flows["alias"] == ["delay", "delay+newreno"]
    assert ff.register(Delay) == "delay" and ff.list("delay")["startups"][0]["name"] == "delay"
    assert ff.compare(["delay"], on="quic", **PATH).flows["transport"] == ["quic"]


def test_begin_sets_the_first_window_and_a_loss_can_be_ignored():
    class Wide(Doubling):
        def begin(self, view):
            return 40

    class Deaf(Wide):
        def on_loss(self, view):
            assert view.event in ("loss", "timeout", "mark")
            return "ignore"

    wide, deaf = ff.compare([Wide, Deaf], samples=500, **PATH).flows.to_dicts()
    assert wide["exit_cwnd_packets"] >= 40
    assert deaf["exit_reason"] != "loss"


def test_it_paces():
    class Tortoise(ff.Startup):
        partner, paces = "newreno", True

        def on_ack(self, view):
            return ff.Step(200, pacing_bps=1e6)

    assert ff.compare([Tortoise], **PATH).flows["throughput_bps"][0] < 2e6


@pytest.mark.parametrize(
    "value",
    [
        math.nan,
        math.inf,
        -1,
        "40",
        True,
        object(),
        [],
        10**400,
        ff.Step(-3),
        ff.Step(None, ssthresh="x"),
        ff.Step(5, pacing_bps=math.nan),
        Doubling,
    ],
)
def test_nonsense_is_an_error_that_names_the_start_up(value, no_thread_left):
    with pytest.raises(ff.Error, match=r"start-up `odd`: on_ack returned .*accepted: None"):
        ff.compare([answers(value), "hoe"], **PATH)


@pytest.mark.parametrize("method", ["begin", "on_ack", "on_loss", "__deepcopy__"])
def test_what_a_method_raises_is_reported_with_its_cause(method, no_thread_left):
    raising = answers(ZeroDivisionError("none"), method)
    with pytest.raises(
        ff.Error, match=r"start-up `odd`: .* raised ZeroDivisionError: none"
    ) as caught:
        ff.compare([raising, "hoe"], **PATH)
    assert isinstance(caught.value.__cause__, ZeroDivisionError)
    assert ff.compare(["hoe"], **PATH).flows["alias"] == ["hoe"]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"name": "Über"}, "lower-case letters"),
        ({"name": "astart"}, "taken"),
        ({"name": 3}, "accepted: a text"),
        ({"partner": "nosuch"}, "nosuch"),
        ({"growth": "x"}, "growth"),
        ({"__init__": lambda self: 1 / 0}, "constructor raised ZeroDivisionError"),
        ({}, "on_ack raised NotImplementedError"),
    ],
)
def test_a_start_up_that_cannot_be_is_an_error(body, message):
    with pytest.raises(ff.Error, match=message):
        ff.compare([type("Bad", (ff.Startup,), {"name": "bad", **body})], **PATH)


LOOP = """
import firstflight as ff, threading
class Loop(ff.Startup):
    def on_ack(self, view):
        print("inside", flush=True)
        while True: pass
try:
    ff.compare([Loop])
except KeyboardInterrupt:
    print("heard", threading.active_count())
"""


def test_ctrl_c_ends_a_method_that_does_not_end():
    child = subprocess.Popen([sys.executable, "-c", LOOP], stdout=subprocess.PIPE, text=True)
    assert child.stdout.readline() == "inside\n"
    time.sleep(0.2)
    child.send_signal(signal.SIGINT)
    assert child.communicate(timeout=60)[0] == "heard 1\n"
