"""The documentation site: its code runs, it builds, and its links lead somewhere."""

import subprocess
import sys

import blocks
import build
import pytest
import site_pages

# Of every page that has code: how many blocks run, how many another test runs, and how many run
# nowhere, each with its reason on the page.
CODE = {
    "claims.md": (0, 0, 2),
    "gallery.md": (0, 2, 0),
    "install.md": (2, 0, 2),
    "lab.md": (0, 0, 1),
    "notebook-first-figure.md": (0, 5, 0),
    "operators.md": (0, 0, 3),
    "own-startup.md": (0, 0, 1),
    "python.md": (1, 0, 2),
    "quic.md": (1, 4, 2),
    "reproduce.md": (3, 0, 1),
    "scenario-keys.md": (0, 3, 0),
    "scenarios.md": (8, 0, 0),
    "sweep.md": (2, 0, 3),
    "tour.md": (13, 0, 0),
    "transfer.md": (0, 0, 5),
}


def test_no_block_of_code_comes_or_goes_unseen():
    found = {}
    for page in sorted(blocks.DOCS.glob("*.md")):
        marks = [block.mark for block in blocks.of_page(page.name)]
        tested, not_run = marks.count("tested"), marks.count("not run")
        if marks:
            found[page.name] = (len(marks) - tested - not_run, tested, not_run)
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
def gallery(tmp_path_factory):
    """The folder of the figures, which are drawn once."""
    folder = tmp_path_factory.mktemp("gallery")
    script = [sys.executable, site_pages.ROOT / "python/examples/gallery.py", folder]
    subprocess.run(script, check=True, stdout=subprocess.DEVNULL)
    return folder


def test_the_site_has_every_page_and_leads_nowhere_else(gallery, tmp_path):
    """By MkDocs with warnings as errors; then every link, anchor and fetched file."""
    found = build.build(tmp_path / "site", gallery=gallery)
    names = {page.name: page for page in found}
    assert names.keys() == {"404.html", *(f"{page.stem}.html" for page in blocks.DOCS.glob("*.md"))}
    for page in CODE:
        # Code that is shown in some other way than by a fence would not have run.
        html = names[page.replace(".md", ".html")]
        assert html.read_text().count("<pre") == len(blocks.of_page(page)), page
    # What would be fetched from elsewhere is seen, and so is a link to nothing.
    page = names["install.html"]
    for wrong in (
        '<script src="https://example.org/x.js"></script>',
        '<p style="background: url(//example.org/x.png)">',
        '<a href="tour.html#nowhere">x</a>',
        '<a href="nothing.html">x</a>',
    ):
        page.write_text(page.read_text() + wrong)
    again = {path: build.read(path) for path in found}
    assert len(build.problems(tmp_path / "site", again)) == 4


def test_zensical_builds_the_same_pages(gallery, tmp_path):
    ours = build.build(tmp_path / "site", zensical=True, gallery=gallery)
    assert len(ours) == len(list(blocks.DOCS.glob("*.md"))) + 1


def test_a_link_out_of_docs_leads_to_a_page_or_to_the_text():
    lead = site_pages.expanded
    assert lead("[`a`](../CONTRIBUTING.md#style)") == "[`a`](contributing.md#style)"
    assert lead("[a](../Cargo.toml)") == '<a href="source/Cargo.toml.txt">a</a>'
    for same in ("`[a](../nothing)`", "```\n[a](../nothing)\n```", "[a](tour.md#b)"):
        assert lead(same) == same
    # Lists as Python's Markdown has them.
    assert lead("1. a\n   - b\n- c\n  7. d") == "1. a\n    - b\n- c\n  7\\. d"
    with pytest.raises(ValueError, match="no file of the repository"):
        lead("[a](../nothing)")


def test_the_reference_has_every_public_name_with_its_text():
    import firstflight as ff

    text = site_pages.reference("firstflight")
    assert all(f"### {name}\n" in text for name in ff.__all__)
    assert "| `rate` | `40Mbps` |" in text and "### run" in text
    text = site_pages.reference("firstflight.plots")
    assert all(f"### {name}\n" in text for name in ("ecdf", "harm", "window"))
