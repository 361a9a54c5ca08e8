"""What MkDocs calls before it builds: it finds the extension beside this file, and says in a line
what to do where the package, whose reference is a page, is not installed.
"""

import importlib.util
import sys
from pathlib import Path

from mkdocs.exceptions import Abort


def on_config(config):
    """Adds the extension: where the configuration names it, MkDocs looks for it too early."""
    if importlib.util.find_spec("firstflight") is None:
        raise Abort("the package is not installed here: `cargo xtask site` sees to that")
    sys.path.insert(0, str(Path(__file__).parent))
    config.markdown_extensions.append("site_pages")
    return config
