"""The documentation site: its code runs, it builds, and its links lead somewhere."""

import re

import blocks
import build
import pytest
import site_pages
import site_reference

# Of every page that has code: how many blocks run, how many another test runs, and how many run
# nowhere, each with its reason on the page.
CODE = {
    "advise.md": (1, 0, 1),
    "artifact.md": (1, 0, 0),
    "c.md": (0, 2, 1),
    "claims.md": (0, 0, 2),
    "gallery.md": (0, 1, 0),
    "install.md": (2, 0, 2),
    "judge.md": (0, 0, 7),
    "lab.md": (0, 0, 1),
    "notebook-first-figure.md": (0, 5, 0),
    "notebook-queries.md": (0, 7, 0),
    "ns3.md": (0, 0, 2),
    "operators.md": (1, 0, 9),
    "own-startup.md": (0, 0, 1),
    "paths.md": (0, 0, 1),
    "python.md": (2, 1, 3),
    "quic.md": (1, 5, 6),
    "reproduce.md": (3, 0, 1),
    "scenario-keys.md": (0, 3, 0),
    "scenarios.md": (8, 0, 0),
    "scout.md": (1, 0, 0),
    "sweep.md": (3, 0, 7),
    "tour.md": (14, 0, 0),
    "transfer.md": (0, 0, 5),
}


def test_no_block_of_code_comes_or_goes_unseen():
    found = {}
    for page in sorted(site_pages.PAGES):
        marks = [block.mark for block in blocks.of_page(page)]
        tested, not_run = marks.count("tested"), marks.count("not run")
        if marks:
            found[page] = (len(marks) - tested - not_run, tested, not_run)
    assert found == CODE


@pytest.mark.parametrize("page", CODE)
def test_the_code_of_a_page_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks.run(page, tmp_path)


def test_what_a_page_shows_is_compared_line_by_line():
    assert blocks.matches("", "anything")
    assert blocks.matches("a\n...\nd", "a\nb\nc\nd\n")
    assert blocks.matches("...\nd", "d")
    assert not blocks.matches("a\n...\nd", "a\nb\n")
    assert not blocks.matches("a", "a\nb")
    assert not blocks.matches("a 1.5", "a 1x5")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The site, with warnings as errors; links, anchors, fetched files are checked."""
    folder = tmp_path_factory.mktemp("docs")
    simulates = folder / "simulates.html"
    simulates.write_text("<title>The page that simulates</title>")
    return {page.name: page for page in build.build(folder / "site", simulates)}


def test_the_site_has_every_page_and_its_code(site):
    pages = {page.replace(".md", ".html") for page in site_pages.PAGES}
    assert site.keys() == {"404.html", "simulate.html", *pages}
    for page in CODE:
        # Code that is shown in some other way than by a fence would not have run.
        html = site[page.replace(".md", ".html")].read_text()
        assert html.count("<pre") == len(blocks.of_page(page)), page


def test_plots_that_live_have_a_picture_in_their_place(site):
    plots = re.compile(r'<div class="live" data-shown="([^"]*)">\s*<p>(<img [^>]*>)</p>\s*</div>')
    for page, control in (("tour", "cubic"), ("paths", "hystart"), ("scout", "scout")):
        [(shown, picture)] = plots.findall(site[f"{page}.html"].read_text())
        assert shown.startswith(f"control={control}&amp;")
        assert shown.endswith("&amp;plot=")
        assert 'src="img/live/' in picture
    assert site_pages.address("cubic --rtt 40ms") == [
        ("control", "cubic"),
        ("rtt", "40ms"),
        ("plot", ""),
    ]


def test_links_to_nothing_and_what_is_fetched_from_elsewhere_are_seen(site):
    page = site["install.html"]
    right = page.read_text()
    for wrong in (
        '<script src="https://example.org/x.js"></script>',
        '<p style="background: url(//example.org/x.png)">',
        '<a href="tour.html#nowhere">x</a>',
        '<a href="nothing.html">x</a>',
    ):
        page.write_text(right + wrong)
        found = {path: build.read(path) for path in site.values()}
        assert len(build.problems(page.parent, found)) == 1, wrong
    page.write_text(right)


def test_what_a_reader_clicks_is_called_by_words_and_options_stay_whole(site):
    for page in site.values():
        article = page.read_text().partition("<article")[2].partition("</article>")[0]
        assert not re.search(r"<a [^>]*>[^<]*\.md</a>", article), page.name
        # Python's Markdown asks for four spaces before an item within an item.
        prose = re.sub(r"(?s)<pre.*?</pre>", "", article)
        assert not re.search(r"(?m)^\s*(- |\d+\. )", prose), page.name
    tour = site["tour.html"].read_text()
    assert '<code><span style="white-space: nowrap">--size</span></code>' in tour


def test_a_link_out_of_docs_leads_to_a_page_or_to_the_text():
    def lead(text):
        return site_pages.linked(text, "docs")[0]

    assert lead("[`a`](../CONTRIBUTING.md#style)") == "[`a`](contributing.md#style)"
    assert lead("[tour.md](tour.md#x)") == '["A tour in ten minutes"](tour.md#x)'
    assert lead("[`a`](../papers/README.md)") == lead("[`a`](../papers)") == "[`a`](claims.md)"
    assert lead("[papers/README.md](../papers/README.md)").startswith('["')
    assert site_pages.linked("![a](../Cargo.toml)", "docs") == (
        "![a](source/Cargo.toml.txt)",
        {"Cargo.toml"},
    )
    for same in ("`[a](../nothing)`", "```\n[a](../nothing)\n```", "[a](tour.md#b)"):
        assert lead(same) == same
    with pytest.raises(ValueError, match="no file of the repository"):
        lead("[a](../nothing)")


def test_the_reference_has_every_public_name_with_its_text():
    import firstflight as ff

    text = site_reference.reference("firstflight")
    assert all(f"### {name}\n" in text for name in ff.__all__)
    assert "| `rate` | `40Mbps` |" in text and "### run" in text
    text = site_reference.reference("firstflight.plots")
    assert all(f"### {name}\n" in text for name in ("ecdf", "harm", "window"))
