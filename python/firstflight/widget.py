"""A plot that lives in a notebook: the page of `cargo xtask web`, with a path to drag in it.

It takes anywidget (`pip install "firstflight[widget]"`) and the page's one file, which simulates in
the browser: nothing runs in Python, and nothing is sent anywhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

try:
    import anywidget
    import traitlets
except ImportError as missing:
    raise ImportError(
        f'firstflight.widget takes anywidget: pip install "firstflight[widget]" ({missing})'
    ) from missing

#: Puts the page into a frame. The address behind `#` is what it shows; both sides may change it.
FRAME = """
function render({ model, el }) {
  const page = new Blob([model.get("page")], { type: "text/html" });
  const address = URL.createObjectURL(page);
  const frame = document.createElement("iframe");
  frame.title = "firstflight";
  frame.style.cssText = `width: 100%; border: 0; height: ${model.get("height")}px`;
  frame.src = `${address}#${model.get("shown")}`;
  const here = () => frame.contentWindow.location.hash.slice(1);
  const tell = () => {
    model.set("shown", here());
    model.set("says", frame.contentWindow.firstflightShows());
    model.save_changes();
  };
  const show = () => {
    if (here() !== model.get("shown")) frame.contentWindow.location.hash = model.get("shown");
  };
  const look = setInterval(() => {
    const isThere = frame.contentWindow.firstflightShows;
    if (isThere && (here() !== model.get("shown") || !model.get("says").controls)) tell();
  }, 500);
  model.on("change:shown", show);
  el.append(frame);
  return () => {
    clearInterval(look);
    model.off("change:shown", show);
    URL.revokeObjectURL(address);
  };
}
export default { render };
"""


class _Plot(anywidget.AnyWidget):
    _esm = FRAME
    page = traitlets.Unicode().tag(sync=True)
    shown = traitlets.Unicode().tag(sync=True)
    says = traitlets.Dict().tag(sync=True)
    height = traitlets.Int().tag(sync=True)

    @property
    def asked(self) -> dict[str, Any]:
        """What is shown, as `firstflight.compare(**plot.asked)` takes it; once it is shown."""
        return dict(self.says)


def plot(
    page: str | PathLike[str],
    controls: Sequence[str] = ("cubic", "hystart-pp"),
    height: int = 940,
    **path: str,
) -> Any:
    """Controls on one path, drawn while one drags it: a widget of anywidget.

    page: the file `firstflight.html` that `cargo xtask web` makes.
    path: as for `firstflight.compare`, such as rate="50Mbps".

    Its `asked` is what it shows, for `firstflight.compare(**plot.asked)`.
    """
    text = Path(page).read_text(encoding="utf-8")
    if 'id="module"' not in text:
        raise ValueError(
            f"{page}: not the page that simulates; accepted: firstflight.html of `cargo xtask web`"
        )
    words = [*(("control", name) for name in controls), *path.items(), ("plot", "")]
    return _Plot(page=text, height=height, shown=urlencode(words))
