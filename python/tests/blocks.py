"""The code on the site's pages, and how a page's is run.

A fence without a mark runs: Python in one namespace for the page, TOML as the scenario or the sweep
that it is, everything else in bash, all in one folder for the page. Where lines begin with `$`, the
others are what these print; `...` stands for any lines. A comment in the line before the fence says
what else it is:

    <!-- not run: WHY -->      nothing runs it here
    <!-- tested: FILE -->      that test reads the page, or a file to which the page links
    <!-- output: WHOSE -->     the code before it prints this

A fence with a title, such as ```toml title="loss.toml", is kept under that name, for what comes
after it.
"""

import contextlib
import io
import os
import posixpath
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from site_pages import PAGES, ROOT, linked, text_of


@dataclass
class Block:
    mark: str  # "not run", "tested", "output", or nothing
    value: str
    language: str
    title: str
    text: str


def of_page(name):
    """The blocks of a page of the site."""
    text = text_of(name)
    found = [Block(*fence) for fence in FENCE.findall(text)]
    fences = re.findall(r"^\s*(?:```|~~~)", text, re.MULTILINE)
    assert len(fences) == 2 * len(found), f"{name}: a fence that this does not read"
    return found


def run(name, folder):
    """Runs a page's blocks in their order; what is wrong is an AssertionError."""
    for link in ("scenarios", "papers", "python"):
        (folder / link).symlink_to(ROOT / link)
    of, blocks, names, printed = text_of(name), of_page(name), {}, ""
    for at, block in enumerate(blocks):
        if block.title:
            (folder / block.title).write_text(block.text)
            later = "".join(one.text for one in blocks[at + 1 :] if not one.mark)
            assert block.title in later, f"{block.title} is not used after its block"
        elif block.mark == "tested":
            text = (ROOT / block.value).read_text()
            read = [
                Path(file).name
                for file in (PAGES[name], *linked(of, posixpath.dirname(PAGES[name]))[1])
            ]
            assert any(one in text for one in read), f"{block.value} reads none of {read}"
        elif block.mark == "output":
            assert matches(block.text, printed), f"printed\n{printed}\nnot\n{block.text}"
        elif not block.mark and block.language == "python":
            with contextlib.redirect_stdout(io.StringIO()) as out:
                exec(compile(block.text, name, "exec"), names)
            printed = out.getvalue()
        elif not block.mark and block.language == "toml":
            # Each of its own name, by which a sweep's folder is called.
            (folder / f"{at}.toml").write_text(block.text)
            _shell([f"firstflight {_command(block.text)} {at}.toml"], folder)
        elif not block.mark:
            assert block.language in ("", "sh"), f"nothing runs {block.language}:\n{block.text}"
            _type(block.text, folder)


def _command(toml):
    return "sweep" if "[grid]" in toml else "run"


def _type(text, folder):
    """What is typed, each with what it must print."""
    parts = re.split(r"^\$ ", text, flags=re.MULTILINE)
    if len(parts) == 1:
        _shell(parts, folder)
        return
    assert not parts[0], f"before the first $:\n{text}"
    lines = [TYPED.fullmatch(part).groups() for part in parts[1:]]
    printed = _shell([typed for typed, _ in lines], folder)
    for (typed, wanted), got in zip(lines, printed, strict=True):
        assert matches(wanted, got), f"{typed}\nprints\n{got}\nand the page has\n{wanted}"


def matches(wanted, got):
    """Whether lines are as wanted, where `...` stands for any lines; nothing for all of them."""
    lines = [line.rstrip() for line in wanted.rstrip().split("\n")]
    pattern = "".join(r"(?:.*\n)*?" if line == "..." else re.escape(line) + "\n" for line in lines)
    got = "".join(f"{line.rstrip()}\n" for line in got.strip("\n").split("\n"))
    return not wanted.strip() or re.fullmatch(pattern, got) is not None


def _shell(commands, folder):
    """Types commands into one shell; what each prints, on both streams."""
    env = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", f"\nprintf '{APART}'\n".join(commands)],
        cwd=folder,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, f"{commands}\nexit code {done.returncode}\n{done.stdout}"
    return done.stdout.split(APART)


APART = "=== the next command ==="
TYPED = re.compile(r"((?:[^\n]*\\\n)*[^\n]*)\n?((?s:.*))")
FENCE = re.compile(
    r"^(?:<!-- (not run|tested|output): (.*?) -->\n)?```(\w*)(?: title=\"(\S+)\")?\n(.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
