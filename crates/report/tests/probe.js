// Put into a page by `browser.rs`: uses the page as a reader would and notes what it sees.
const violations = [];
document.addEventListener("securitypolicyviolation", (event) => violations.push(event.blockedURI));
window.addEventListener("error", (event) => violations.push(String(event.message)));

addEventListener("load", () =>
  setTimeout(async () => {
    const all = (selector, root = document) => [...root.querySelectorAll(selector)];
    const click = (selector) => document.querySelector(selector).click();
    const shown = () => all("#claims-table tbody tr:not([hidden])").length;
    const plot = document.querySelector("#fig-cwnd .plot");
    const range = () => plot._fullLayout.xaxis.range;
    const seen = {};

    seen.drawn = all('.plot[data-drawn="yes"]').length;
    const curves = all(".plot .scatterlayer .trace path.js-line");
    seen.curves = curves.filter((path) => path.getAttribute("d").length > 10).length;
    seen.panels = all("#fig-cwnd .scatterlayer").length;
    seen.x_axes = Object.keys(plot._fullLayout).filter((key) => /^xaxis\d*$/.test(key)).length;

    Plotly.Fx.hover(plot, { xval: 10 }, ["xy", "xy2", "xy3"]);
    seen.hovered = all("#fig-cwnd .hoverlayer text.legendtext").map((text) => text.textContent);

    const full = range()[1] - range()[0];
    plot.dispatchEvent(new KeyboardEvent("keydown", { key: "+" }));
    seen.zoomed = (range()[1] - range()[0]) / full;
    plot.dispatchEvent(new KeyboardEvent("keydown", { key: "0" }));
    seen.reset = (range()[1] - range()[0]) / full;

    click("#fig-cwnd .legend button");
    await new Promise((done) => setTimeout(done, 300));
    seen.hidden = plot.data.filter((trace) => trace.visible === false).length;

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

    // How far the names of stacked axes stay apart, from one end of the plot to the other.
    const names = all("#stacked text").filter((text) => /^y\d*title$/.test(text.classList[0]));
    const spans = [...names, document.querySelector("#stacked .plot")].map((element) => {
      const { top, bottom } = element.getBoundingClientRect();
      return [top, bottom];
    });
    const [from, to] = spans.pop();
    const ends = [from, ...spans.flat(), to];
    seen.names = names.length;
    seen.apart = Math.min(...ends.slice(1).map((end, at) => end - ends[at]));

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
