// Put into a page by `browser.rs`: uses the page as a reader would and notes what it sees.
const violations = [];
document.addEventListener("securitypolicyviolation", (event) => violations.push(event.blockedURI));
window.addEventListener("error", (event) => violations.push(String(event.message)));

addEventListener("load", () =>
  setTimeout(() => {
    const all = (selector, root = document) => [...root.querySelectorAll(selector)];
    const click = (selector) => document.querySelector(selector).click();
    const shown = () => all("#claims-table tbody tr:not([hidden])").length;
    const plot = document.querySelector("#fig-cwnd .plot");
    const range = () => [plot.plot.x.from, plot.plot.x.to];
    const width = () => range()[1] - range()[0];
    const seen = {};

    const curves = (root = document) => all(".plot svg .curve", root);
    seen.drawn = all(".plot").filter((box) => box.querySelector(".curve")).length;
    seen.curves = curves().filter((path) => path.getAttribute("d").length > 10).length;
    seen.panels = all("#fig-cwnd .ytitle").length;

    // The mouse at a share of the width and of the height of the drawing.
    const picture = plot.querySelector("svg");
    const mouse = (name, right, down) => {
      const { left, top, width, height } = picture.getBoundingClientRect();
      const at = { clientX: left + right * width, clientY: top + down * height };
      picture.dispatchEvent(new PointerEvent(name, { ...at, button: 0, pointerId: 1 }));
    };
    picture.setPointerCapture = () => {};
    mouse("pointermove", 0.5, 0.5);
    seen.hovered = all("#fig-cwnd .readout div").map((row) => row.textContent);

    const full = width();
    plot.dispatchEvent(new KeyboardEvent("keydown", { key: "+" }));
    seen.zoomed = width() / full;
    plot.dispatchEvent(new KeyboardEvent("keydown", { key: "0" }));
    seen.reset = width() / full;
    mouse("pointerdown", 0.5, 0.5);
    mouse("pointermove", 0.75, 0.5);
    mouse("pointerup", 0.75, 0.5);
    seen.dragged = width() / full;
    picture.dispatchEvent(new MouseEvent("dblclick"));
    seen.all = width() / full;

    const drawing = new DOMParser().parseFromString(plot.plot.text(300, 200), "image/svg+xml");
    const colors = all("path", drawing).map((path) => path.getAttribute("stroke"));
    seen.copied = colors.filter((color) => /^#[0-9a-f]{6}$/.test(color)).length;
    const before = curves(document.querySelector("#fig-cwnd")).length;
    click("#fig-cwnd .legend button");
    seen.hidden = before - curves(document.querySelector("#fig-cwnd")).length;

    seen.rows = shown();
    click('#claims-table button[data-verdict="fail"]');
    seen.failed = shown();
    click('#claims-table button[data-verdict=""]');
    const search = document.querySelector("#claims-table input");
    search.value = "a-t2-1 newreno";
    search.dispatchEvent(new Event("input"));
    seen.found = shown();
    click('.bar button[data-show="refuted-confirmed"]');
    search.value = "";
    search.dispatchEvent(new Event("input"));
    seen.refuted = shown();

    const text = (selector) => document.querySelector(selector).textContent;
    seen.hostile = {
      alive: all(".alive").length,
      title: text("#hostile-figure h3"),
      caption: text("#hostile-figure figcaption p"),
      legend: text("#hostile-figure .legend button"),
      axis: text("#hostile-figure .ytitle"),
      cell: text("#hostile-table td"),
    };
    seen.loaded = performance.getEntriesByType("resource").map((entry) => entry.name);
    seen.violations = violations;
    const note = document.createElement("script");
    note.type = "text/plain";
    note.id = "seen";
    note.textContent = JSON.stringify(seen).replaceAll("<", "\\u003c");
    document.body.append(note);
  }, 3000),
);
