"""What the site's pages take from outside docs/: a Markdown extension for MkDocs and Zensical.

A line `<!-- include: CONTRIBUTING.md -->` stands for that file, whose page this then is. A line
`<!-- reference: firstflight -->` stands for the reference of an installed module. A link to another
file of the repository leads to its page if it has one, else to the file's text (`SOURCES` in the
site, where `build.py` puts it). A link to a page that is called by its file's name is called by the
page's title here. A link to nothing ends the build.
"""

import functools
import json
import posixpath
import re
from pathlib import Path

from markdown.extensions import Extension
from markdown.postprocessors import Postprocessor
from markdown.preprocessors import Preprocessor
from markdown.treeprocessors import Treeprocessor
from site_reference import reference

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
SOURCES = "source"


class Pages(Extension):
    """Reads the lines above, before anything else of Markdown is read."""

    def extendMarkdown(self, md):
        md.preprocessors.register(_Expand(md), "site_pages", 100)
        md.treeprocessors.register(_Widths(md), "site_widths", 15)
        md.postprocessors.register(_Options(md), "site_options", 0)
        # As in GitHub's Markdown.
        md.ESCAPED_CHARS = [*md.ESCAPED_CHARS, *"<>~|"]


class _Expand(Preprocessor):
    def run(self, lines):
        return expanded("\n".join(lines)).split("\n")


class _Widths(Treeprocessor):
    """In tables of many columns, those with sentences keep a width at which one can read them."""

    def run(self, root):
        for table in root.iter("table"):
            rows = list(table.iter("tr"))
            for head, *cells in zip(*rows, strict=False) if len(rows[0]) > 4 else ():
                if any(len("".join(cell.itertext())) > 60 for cell in cells):
                    head.set("style", "min-width: 12rem")


class _Options(Postprocessor):
    """An option such as `--runs` is not broken behind its hyphens."""

    def run(self, text):
        return CODE.sub(lambda found: found[1] or OPTION.sub(WHOLE, found[0]), text)


def makeExtension(**options):
    return Pages(**options)


def expanded(text):
    """The Markdown of a page of docs/, with what it includes, and its links as the site's."""
    parts = INCLUDE.split(text)
    parts[1::2] = [_included(path) for path in parts[1::2]]
    if parts[0].strip():
        # The page has a title of its own.
        parts[1::2] = [re.sub(r"\A# .*\n", "", part) for part in parts[1::2]]
    parts[::2] = [_linked(part, "docs") for part in parts[::2]]
    return REFERENCE.sub(lambda found: reference(found[1]), "".join(parts))


def _included(path):
    text = (ROOT / path).read_text()
    if path.endswith(".ipynb"):
        text = notebook(text)
    elif path.endswith(".py"):
        return f"```python\n{text}```"
    return _linked(text, posixpath.dirname(path))


def notebook(text):
    """A notebook as Markdown: its texts and its code."""
    parts = []
    for cell in json.loads(text)["cells"]:
        source = "".join(cell["source"]).strip()
        code = cell["cell_type"] == "code"
        parts.append(f"{RUN}\n```python\n{source}\n```" if code else source)
    return "\n\n".join(parts)


def _linked(text, folder):
    """Leads every link outside of code, which is relative to `folder`, to where the site has it."""
    parts = FENCED.split(text)
    parts[::2] = [LINK.sub(lambda found: _link(found, folder), part) for part in parts[::2]]
    parts[::2] = [_listed(part) for part in parts[::2]]
    return "".join(parts)


def _listed(text):
    """Lists as Python's Markdown asks for them, where GitHub's is content with less."""
    text = re.sub("^   (?=- )", "    ", text, flags=re.MULTILINE)
    # Within an item, a line that happens to begin with a number.
    return re.sub(r"^(  \d+)\. ", r"\1\\. ", text, flags=re.MULTILINE)


def _link(found, folder):
    image, label, target = found.groups()
    if target is None or ":" in target or target.startswith("#"):
        return found[0]
    path, hash, anchor = target.partition("#")
    path = posixpath.normpath(posixpath.join(folder, path))
    if (ROOT / path / "README.md").exists():
        path += "/README.md"
    if path in pages():
        if label.endswith(".md"):
            label = f'"{title(path)}"'
        return f"{image}[{label}]({pages()[path]}{hash}{anchor})"
    if path.startswith("docs/"):
        return f"{image}[{label}]({path.removeprefix('docs/')}{hash}{anchor})"
    if path.startswith("..") or not (ROOT / path).is_file():
        raise ValueError(f"{folder}: a link to {target}, which is no file of the repository")
    return f'<a href="{SOURCES}/{path}.txt">{label}</a>'


def title(path):
    """The first heading of a page's file, or of the first file that it includes."""
    text = (ROOT / path).read_text()
    found = re.search(r"^# (.*)$", text, re.MULTILINE)
    return found[1] if found else title(INCLUDE.search(text)[1])


@functools.cache
def pages():
    """The file whose page each page of docs/ is: its own, or one that it includes."""
    found = {f"docs/{page.name}": page.name for page in DOCS.glob("*.md")}
    for page in DOCS.glob("*.md"):
        found.update(dict.fromkeys(INCLUDE.findall(page.read_text()), page.name))
    return found


# What `test_docs.py` is told about the code of a notebook.
RUN = "<!-- tested: python/tests/test_examples.py -->"
INCLUDE = re.compile(r"^<!-- include: (\S+) -->$", re.MULTILINE)
REFERENCE = re.compile(r"^<!-- reference: (\S+) -->$", re.MULTILINE)
FENCED = re.compile(r"(^```.*?^```$)", re.MULTILINE | re.DOTALL)
# A link, or a code span, in which nothing is a link.
LINK = re.compile(r"(!?)\[((?:[^\[\]`]|`[^`]*`)*)\]\(([^()\s]+)\)|`[^`]+`")
# A block of code, or code within a line.
CODE = re.compile(r"(<pre\b.*?</pre>)|<code>[^<]*</code>", re.DOTALL)
OPTION = re.compile(r"(?<![^ >])-[^ <]{1,29}(?=[ <])")
WHOLE = r'<span style="white-space: nowrap">\g<0></span>'
