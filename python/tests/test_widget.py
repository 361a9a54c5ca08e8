"""The widget of notebooks; web/tests tries its script in a browser."""

import firstflight as ff
import pytest

pytest.importorskip("anywidget")


def test_a_plot_shows_what_it_is_told_and_says_what_is_shown(tmp_path):
    page = tmp_path / "firstflight.html"
    page.write_text('<script id="module">')
    plot = ff.widget.plot(page, ["cubic", "scout"], rate="50Mbps", buffer="0.5bdp")
    assert plot.shown == "control=cubic&control=scout&rate=50Mbps&buffer=0.5bdp&plot="
    assert plot.asked == {}
    plot.says = {"controls": ["cubic"], "rate": "1Mbps", "duration": "1s"}
    assert "cubic" in ff.compare(**plot.asked).flows["alias"]


def test_another_page_is_refused(tmp_path):
    page = tmp_path / "other.html"
    page.write_text("<p>")
    with pytest.raises(ValueError, match=r"other.html: not the page.*accepted: firstflight.html"):
        ff.widget.plot(page)
