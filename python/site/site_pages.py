"""The site's pages: those of docs/, and those that `zensical.toml` takes from other folders.

A page is what a repository's reader sees, with its links as the site's: a link to another file
leads to its page if it has one, else to a copy of the file. A link to a page that is called by its
file's name is called by the page's title. A line `<!-- reference: firstflight -->` stands for the
reference of an installed module. A picture below `<!-- live: firstflight compare ... -->` is one of
that comparison; where the site has the page that simulates, it takes the picture's place.
"""

import html
import json
import posixpath
import re
import shlex
import shutil
from pathlib import Path
from urllib.parse import urlencode

import tomllib

ROOT = Path(__file__).parents[2]
# The file behind each page, from the root.
PAGES = {page.name: f"docs/{page.name}" for page in (ROOT / "docs").glob("*.md")}
PAGES |= tomllib.loads((ROOT / "zensical.toml").read_text())["pages"]


def write(folder, reference, *, live=False):
    """Every page, and every file that one shows or links to, into a folder."""
    shutil.copytree(ROOT / "docs", folder, ignore=shutil.ignore_patterns("*.md"))
    for name in PAGES:
        text, files = linked(text_of(name), posixpath.dirname(PAGES[name]))
        text = REFERENCE.sub(lambda found: reference(found[1]), text)
        (folder / name).write_text(LIVE.sub(_place if live else r"\2", text))
        for path in files:
            copy = folder / f"{SOURCES}/{path}.txt"
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / path, copy)


def text_of(name):
    """The Markdown of a page; of a notebook its texts and its code."""
    text = (ROOT / PAGES[name]).read_text()
    return notebook(text) if PAGES[name].endswith(".ipynb") else text


def notebook(text):
    parts = []
    for cell in json.loads(text)["cells"]:
        source = "".join(cell["source"]).strip()
        code = cell["cell_type"] == "code"
        parts.append(f"{RUN}\n```python\n{source}\n```" if code else source)
    return "\n\n".join(parts)


def linked(text, folder):
    """A text of `folder` with every link outside of code as the site's, and the files it needs."""
    files = set()
    parts = FENCED.split(text)
    parts[::2] = [LINK.sub(lambda found: _link(found, folder, files), part) for part in parts[::2]]
    return "".join(parts), files


def _link(found, folder, files):
    image, label, target = found.groups()
    if target is None or ":" in target or target.startswith("#"):
        return found[0]
    path, hash, anchor = target.partition("#")
    path = posixpath.normpath(posixpath.join(folder, path))
    if (ROOT / path / "README.md").exists():
        path += "/README.md"
    name = next((name for name, file in PAGES.items() if file == path), None)
    if name and label.endswith(".md"):
        label = f'"{title(name)}"'
    if not name and path.startswith("docs/"):
        name = path.removeprefix("docs/")
    if not name and not (ROOT / path).is_file():
        raise ValueError(f"{folder}: a link to {target}, which is no file of the repository")
    if not name:
        files.add(path)
        name = f"{SOURCES}/{path}.txt"
    return f"{image}[{label}]({name}{hash}{anchor})"


def _place(found):
    """Where a plot lives, with its picture."""
    words, picture = found.groups()
    shown = html.escape(urlencode(address(words)))
    return f'<div class="live" data-shown="{shown}" markdown>\n{picture}\n</div>'


def address(words):
    """The pairs that the page's address has behind `#` for the words of a `firstflight compare`."""
    given = shlex.split(words)
    first = next((at for at, word in enumerate(given) if word.startswith("--")), len(given))
    controls, flags = given[:first], given[first:]
    path = [
        (flag.removeprefix("--"), value)
        for flag, value in zip(flags[::2], flags[1::2], strict=True)
    ]
    return [*(("control", name) for name in controls), *path, ("plot", "")]


def title(name):
    """The first heading of a page."""
    return re.search(r"^# (.*)$", text_of(name), re.MULTILINE)[1]


# Where the site has copies of files.
SOURCES = "source"
# The mark by which `test_docs.py` leaves out the code of a notebook.
RUN = "<!-- tested: python/tests/test_examples.py -->"
REFERENCE = re.compile(r"^<!-- reference: (\S+) -->$", re.MULTILINE)
# The words behind `compare`, and the picture.
LIVE = re.compile(r"^<!-- live: firstflight compare (.*) -->\n(!\[.*)$", re.MULTILINE)
FENCED = re.compile(r"(^```.*?^```$)", re.MULTILINE | re.DOTALL)
# A link, or a code span, in which nothing is a link.
LINK = re.compile(r"(!?)\[((?:[^\[\]`]|`[^`]*`)*)\]\(([^()\s]+)\)|`[^`]+`")
