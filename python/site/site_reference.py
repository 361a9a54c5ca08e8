"""The reference of the installed package as Markdown: types from its stubs, texts from itself."""

import importlib
import inspect
import re
import textwrap

import griffe


def reference(name):
    """Every public name of a module: its signature, and what `help` says."""
    module, stubs = importlib.import_module(name), griffe.load(name, resolve_aliases=True)
    parts, tables = [], {}
    public = stubs.exports or [one for one in stubs.functions if one[0] != "_"]
    for one in sorted(public, key=lambda one: (stubs[one].is_class, one.lower())):
        thing, stub = getattr(module, one), stubs[one]
        is_class = stub.is_class
        parts.append(_class(thing, stub) if is_class else _function("###", thing, stub, tables))
    return "\n".join(parts)


def _class(thing, stub):
    values, methods = [], []
    for name, member in stub.members.items():
        if name[0] == "_":
            continue
        if member.is_function:
            methods.append(_function("####", getattr(thing, name), member, {}))
            continue
        value = getattr(thing, name, None)
        about = inspect.getdoc(value) if inspect.isdatadescriptor(value) else None
        about = member.docstring.value if member.docstring else about or ""
        values.append(f"| `{name}` | `{_plain(member.annotation)}` | {about} |")
    if values:
        values = ["| attribute | type | meaning |", "| --- | --- | --- |", *values, ""]
    return "\n".join([f"### {stub.name}\n", _prose(thing, {}), "", *values, "", *methods])


def _function(mark, thing, stub, tables):
    if "self" in stub.parameters:
        del stub.parameters["self"]
    line = _plain(stub.signature(return_type=True))
    if len(line) > 80:
        line = re.sub(r", (?=[\w*]+(:|,|$))", ",\n    ", line).replace("(", "(\n    ", 1)
        line = re.sub(r"\) -> (?!.*\) -> )", ",\n) -> ", line)
    return f"{mark} {stub.name}\n\n```py\n{line}\n```\n\n{_prose(thing, tables, stub.name)}\n"


def _plain(annotation):
    return str(annotation).replace("builtins.", "")


def _prose(thing, tables, name=""):
    """A docstring as Markdown. A table that stood before is a link to where it stood."""
    parts = []
    for block in re.split(r"\n\s*\n", inspect.getdoc(thing) or ""):
        lines = block.split("\n")
        flags = [FLAG.match(line) for line in lines]
        if all(flags):
            block = "\n".join(f"| `{of[1]}` | `{of[2]}` | {of[3]} |" for of in flags)
            block = f"| keyword | default | meaning |\n| --- | --- | --- |\n{block}"
            first = tables.setdefault(block, name)
            parts.append(block if first == name else f"[Those of `{first}`](#{first}).")
        elif all(line.startswith("    ") for line in lines):
            parts.append("```py\n" + textwrap.dedent(block) + "\n```")
        else:
            items = [ITEM.sub(r"- `\1`: ", line) for line in lines]
            first = next((at for at, line in enumerate(items) if line != lines[at]), len(items))
            items.insert(first, "")
            parts.append("\n".join(items).strip("\n"))
    # One piece of code, though a line of it is empty.
    return "\n\n".join(parts).replace("\n```\n\n```py\n", "\n\n")


FLAG = re.compile(r'\s+(\w+) = "(.*?)": (.*)')
ITEM = re.compile(r"^(\w+(?:, \w+)*): ")
