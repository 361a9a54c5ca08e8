"""Builds the documentation site and checks it: python build.py [FOLDER] [--page FILE] [--serve]

The interpreter has this repository's package and its extra `docs` installed; `cargo xtask site`
sees to that. FOLDER is target/site unless it is named. FILE is the page that simulates; without it
the plots that would live are pictures.
"""

import argparse
import html.parser
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from urllib.parse import unquote, urlsplit

import site_pages
from site_pages import ROOT
from site_reference import reference


def build(folder, page=None):
    """The site in `folder`; what is wrong with it is an exception."""
    shutil.rmtree(folder, ignore_errors=True)
    # Zensical reads and writes within the folder of its configuration only.
    with tempfile.TemporaryDirectory() as project:
        project = Path(project)
        site_pages.write(project / "docs", reference, live=page is not None)
        gallery = [sys.executable, ROOT / "python/examples/gallery.py", project / "gallery"]
        subprocess.run(gallery, check=True, stdout=subprocess.DEVNULL)
        (project / "docs/gallery").mkdir()
        for path in project.glob("gallery/*.p[nd][gf]"):
            path.rename(project / "docs/gallery" / path.name)
        shutil.copyfile(ROOT / "zensical.toml", project / "zensical.toml")
        words = [sys.executable, "-m", "zensical", "build", "--strict"]
        env = {**os.environ, "PYTHONPATH": str(Path(__file__).parent)}
        subprocess.run(words, check=True, cwd=project, env=env)
        shutil.copytree(project / "site", folder)
    if page:
        shutil.copyfile(page, folder / "simulate.html")
    found = {page: read(page) for page in folder.rglob("*.html")}
    wrong = problems(folder, found)
    if wrong:
        raise SystemExit("\n".join(wrong))
    return found


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
        foreign = [url for url in URL.findall(sheet.read_text()) if re.match(r"(\w+:)?//", url)]
        wrong += [f"{sheet.name}: fetches {url}" for url in foreign]
    return wrong


# What names something that a browser fetches, on any element.
FETCHED = ("src", "srcset", "data", "poster")
URL = re.compile(r"""(?:url\(\s*|@import\s+)['"]?([^'")\s]+)""")

if __name__ == "__main__":
    words = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    words.add_argument("folder", nargs="?", type=Path, default=ROOT / "target/site")
    words.add_argument("--page", type=Path, metavar="FILE", help="the page that simulates")
    words.add_argument("--serve", action="store_true", help="serve it on 127.0.0.1:8000")
    given = words.parse_args()
    place = given.folder.resolve()
    print(f"{len(build(place, given.page))} pages in {place}", flush=True)
    if given.serve:
        serve = ["-m", "http.server", "8000", "--bind", "127.0.0.1", "--directory", place]
        os.execv(sys.executable, [sys.executable, *serve])
