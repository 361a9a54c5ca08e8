"""The reference of the installed package as Markdown: types from its stubs, texts from itself."""

import ast
import importlib
import inspect
import re
import textwrap
from pathlib import Path


def reference(name):
    """Every public name of a module: its signature, and what `help` says."""
    module = importlib.import_module(name)
    stubs = _stubs(Path(module.__file__))
    public = getattr(module, "__all__", None) or [name for name in stubs if name.islower()]
    parts, told = [], {}
    for one in sorted(public, key=lambda one: (inspect.isclass(getattr(module, one)), one.lower())):
        thing, stub = getattr(module, one), stubs.get(one)
        if isinstance(stub, ast.ClassDef):
            parts.append(_class(one, thing, stub))
        elif isinstance(stub, ast.FunctionDef):
            parts.append(_function("###", one, thing, stub, told))
        elif one.islower():
            raise ValueError(f"{name}.{one} has no stub")
    return "\n".join(parts)


def _stubs(path):
    """What the stubs of a module define, and what they import from its neighbours."""
    found = {}
    stub = path.with_suffix(".pyi")
    # Without one its own source has the types.
    text = (stub if stub.exists() else path.with_suffix(".py")).read_text()
    for node in ast.parse(text).body:
        if isinstance(node, ast.ImportFrom) and node.level and node.module:
            others = _stubs(path.with_name(node.module))
            found.update((name.name, others.get(name.name)) for name in node.names)
        elif isinstance(node, ast.ClassDef | ast.FunctionDef) and node.name[0] != "_":
            found[node.name] = node
    return found


def _class(name, thing, stub):
    comments = {name: text for text, name in re.findall(r" #: (.*)\n +(\w+):", _source(thing))}
    values, methods = [], []
    for node in stub.body:
        if isinstance(node, ast.AnnAssign):
            value = getattr(thing, node.target.id, None)
            about = inspect.getdoc(value) if inspect.isdatadescriptor(value) else None
            about = comments.get(node.target.id) or about or ""
            values.append(f"| `{node.target.id}` | `{_type(node.annotation)}` | {about} |")
        elif isinstance(node, ast.FunctionDef) and node.name[0] != "_":
            methods.append(_function("####", node.name, getattr(thing, node.name), node, {}))
    table = ["", "| attribute | type | meaning |", "| --- | --- | --- |", *values, ""]
    return "\n".join([f"### {name}\n", _prose(thing, {}), *(table if values else ()), "", *methods])


def _function(mark, name, thing, stub, told):
    if any(ast.unparse(one) == "property" for one in stub.decorator_list):
        return f"{mark} {name}\n\n{_prose(thing, told)}\n"
    given = [one for one in stub.args.args if one.arg != "self"]
    line = ast.unparse(ast.arguments(**{**dict(ast.iter_fields(stub.args)), "args": given}))
    line = f"{name}({line}) -> {_type(stub.returns)}"
    if len(line) > 80:
        line = re.sub(r", (?=[\w*]+(:|,|$))", ",\n    ", line).replace("(", "(\n    ", 1)
        line = re.sub(r"\) -> (?!.*\) -> )", ",\n) -> ", line)
    return f"{mark} {name}\n\n```py\n{line}\n```\n\n{_prose(thing, told, name)}\n"


def _type(node):
    return ast.unparse(node).replace("builtins.", "")


def _source(thing):
    try:
        return inspect.getsource(thing)
    except (OSError, TypeError):
        return ""


def _prose(thing, told, name=""):
    """A docstring as Markdown. A table that was told before is a link to where that was."""
    parts = []
    for block in re.split(r"\n\s*\n", inspect.getdoc(thing) or ""):
        lines = block.split("\n")
        flags = [FLAG.match(line) for line in lines]
        if all(flags):
            block = "\n".join(f"| `{of[1]}` | `{of[2]}` | {of[3]} |" for of in flags)
            block = f"| keyword | default | meaning |\n| --- | --- | --- |\n{block}"
            first = told.setdefault(block, name)
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
