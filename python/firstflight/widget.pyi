"""A plot that lives in a notebook: the page of `cargo xtask web`, with a path to drag in it."""

from collections.abc import Sequence
from os import PathLike
from typing import Any

FRAME: str

def plot(
    page: str | PathLike[str],
    controls: Sequence[str] = ("cubic", "hystart-pp"),
    height: int = 940,
    **path: str,
) -> Any: ...
