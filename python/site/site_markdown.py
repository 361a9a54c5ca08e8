"""A Markdown extension for what the theme lacks: columns and options that one can read."""

import re

from markdown.extensions import Extension
from markdown.postprocessors import Postprocessor
from markdown.treeprocessors import Treeprocessor


class _Readable(Extension):
    def extendMarkdown(self, md):
        md.treeprocessors.register(_Widths(md), "site_widths", 15)
        md.postprocessors.register(_Options(md), "site_options", 0)


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
    return _Readable(**options)


# A block of code, or code within a line.
CODE = re.compile(r"(<pre\b.*?</pre>)|<code>[^<]*</code>", re.DOTALL)
OPTION = re.compile(r"(?<![^ >])-[^ <]{1,29}(?=[ <])")
WHOLE = r'<span style="white-space: nowrap">\g<0></span>'
