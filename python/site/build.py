"""Builds the documentation site and checks it: python build.py [FOLDER] [--zensical] [--serve]

The interpreter has this repository's package and its extra `docs` installed; `cargo xtask site`
sees to that. FOLDER is target/site unless it is named.
"""

import argparse
import functools
import html.parser
import http.server
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from urllib.parse import unquote, urlsplit

from site_pages import ROOT, SOURCES


def build(folder, zensical=False, gallery=None):
    """The site in `folder`, its figures and the files it links to; a problem is an exception.

    gallery: a folder that has the figures already.
    """
    pages(folder, zensical)
    with tempfile.TemporaryDirectory() as made:
        if gallery is None:
            script = [sys.executable, ROOT / "python/examples/gallery.py", made]
            subprocess.run(script, check=True, stdout=subprocess.DEVNULL)
        (folder / "gallery").mkdir()
        for path in Path(gallery or made).iterdir():
            if path.suffix in (".png", ".pdf"):
                shutil.copyfile(path, folder / "gallery" / path.name)
    found = {page: read(page) for page in folder.rglob("*.html")}
    for target in {target for page in found.values() for target in page.links}:
        if target.startswith(f"{SOURCES}/"):
            path = folder / unquote(target)
            path.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / path.relative_to(folder / SOURCES).with_suffix(""), path)
    wrong = problems(folder, found)
    if wrong:
        raise SystemExit("\n".join(wrong))
    return found


def pages(folder, zensical=False):
    """The pages alone, by MkDocs or Zensical."""
    shutil.rmtree(folder, ignore_errors=True)
    env = {**os.environ, "PYTHONPATH": str(Path(__file__).parent), "NO_MKDOCS_2_WARNING": "1"}
    if not zensical:
        # Not --quiet, with which warnings are no errors.
        words = ["mkdocs", "build", "--strict", "--site-dir", folder]
        subprocess.run([sys.executable, "-m", *words], check=True, cwd=ROOT, env=env)
        return
    # It writes within the folder of its configuration only. Not --strict: it looks for links in the
    # sources, before they are led to where the site has them. `problems` looks at the result.
    with tempfile.TemporaryDirectory() as project:
        project = Path(project)
        shutil.copytree(ROOT / "docs", project / "docs")
        text = (ROOT / "mkdocs.yml").read_text()
        text = re.sub("^site_dir: .*$", "site_dir: site", text, flags=re.MULTILINE)
        # It calls no hooks.
        text = text.replace("markdown_extensions:\n", "markdown_extensions:\n  - site_pages\n")
        (project / "mkdocs.yml").write_text(text)
        words = ["zensical", "build"]
        subprocess.run([sys.executable, "-m", *words], check=True, cwd=project, env=env)
        shutil.copytree(project / "site", folder)


class read(html.parser.HTMLParser):
    """What a page has: ids, links, and all that a browser would fetch for it."""

    def __init__(self, path):
        super().__init__()
        self.ids, self.links, self.fetched = set(), [], []
        self.feed(path.read_text())

    def handle_starttag(self, tag, pairs):
        given = {name: value or "" for name, value in pairs}
        self.ids |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        elif tag == "link" and not {"canonical", "prev", "next"} & set(given["rel"].split()):
            self.fetched.append(given["href"])
        self.fetched += [given[name] for name in FETCHED if name in given]
        if "style" in given:
            self.fetched += URL.findall(given["style"])


def problems(folder, found):
    """Links to nothing, and everything that a page or a style sheet would fetch elsewhere."""
    wrong = []
    for page, has in found.items():
        for target in has.links + has.fetched:
            url = urlsplit(target)
            if url.scheme or url.netloc:
                if target in has.fetched and url.scheme != "data":
                    wrong.append(f"{page.name}: fetches {target}")
                continue
            base = folder if url.path.startswith("/") else page.parent
            path = (base / unquote(url.path).lstrip("/")).resolve() if url.path else page
            path = path / "index.html" if path.is_dir() else path
            if not path.exists():
                wrong.append(f"{page.name}: {target} leads to nothing")
            elif url.fragment and path in found and unquote(url.fragment) not in found[path].ids:
                wrong.append(f"{page.name}: {target}, a place that {path.name} does not have")
    for sheet in folder.rglob("*.css"):
        elsewhere = [url for url in URL.findall(sheet.read_text()) if re.match(r"(\w+:)?//", url)]
        wrong += [f"{sheet.name}: fetches {url}" for url in elsewhere]
    return wrong


def serve(folder):
    """The built site on this machine's port 8000, until Ctrl-C."""
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=folder)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 8000), handler) as server:
        print("http://127.0.0.1:8000/ (Ctrl-C ends it)", flush=True)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            print()


# What names something that a browser fetches, on any element.
FETCHED = ("src", "srcset", "data", "poster")
URL = re.compile(r"""(?:url\(\s*|@import\s+)['"]?([^'")\s]+)""")

if __name__ == "__main__":
    words = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    words.add_argument("folder", nargs="?", type=Path, default=ROOT / "target/site")
    words.add_argument("--zensical", action="store_true", help="with Zensical instead of MkDocs")
    words.add_argument("--serve", action="store_true", help="serve it on 127.0.0.1:8000")
    given = words.parse_args()
    place = given.folder.resolve()
    print(f"{len(build(place, given.zensical))} pages in {place}")
    if given.serve:
        serve(place)
