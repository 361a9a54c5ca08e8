// Draws the figures of a report and filters its tables. Needs only what the page carries.
"use strict";
(() => {
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];

  // --- figures

  function drawFigure(box) {
    const picture = JSON.parse(box.parentElement.querySelector("script").textContent);
    box.plot = new Plot(box, picture);
    addLegend(box, picture);
    box.addEventListener("keydown", (event) => steer(box.plot, event));
    box.parentElement.querySelector(".png").addEventListener("click", async () => {
      const link = document.createElement("a");
      link.href = await box.plot.png();
      link.download = `${box.parentElement.id}.png`;
      link.click();
    });
  }

  function addLegend(box, picture) {
    const curves = picture.panels.flatMap((panel) => panel.series);
    const entries = picture.legend.map((name) => {
      const curve = curves.find((one) => one.name === name);
      const entry = document.createElement("button");
      entry.type = "button";
      entry.textContent = name;
      entry.setAttribute("aria-pressed", "true");
      entry.title = "click: show or hide; double-click: only this one";
      entry.className = curve.style;
      entry.style.setProperty("--swatch", Plot.color(curve.slot));
      return entry;
    });
    const pressed = (entry) => entry.getAttribute("aria-pressed") === "true";
    const apply = () =>
      box.plot.show(new Set(entries.filter(pressed).map((entry) => entry.textContent)));
    for (const entry of entries) {
      entry.addEventListener("click", () => {
        entry.setAttribute("aria-pressed", String(!pressed(entry)));
        apply();
      });
      entry.addEventListener("dblclick", () => {
        const alone = entries.every((other) => other === entry || !pressed(other));
        entries.forEach((other) =>
          other.setAttribute("aria-pressed", String(alone || other === entry)),
        );
        apply();
      });
    }
    box.parentElement.querySelector(".legend").replaceChildren(...entries);
  }

  // Moves by a fifth of what is seen; zooms by a factor of 1.5 around the middle.
  function steer(plot, event) {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const moves = {
      ArrowLeft: [-1 / 5, 4 / 5],
      ArrowRight: [1 / 5, 6 / 5],
      "+": [1 / 6, 5 / 6],
      "-": [-1 / 4, 5 / 4],
    };
    const key = event.key === "=" ? "+" : event.key;
    if (moves[key]) plot.zoom(...moves[key]);
    else if (key === "0") plot.reset();
    else return;
    event.preventDefault();
  }

  // --- tables

  function watchTable(table) {
    const rows = all("tbody tr", table);
    const buttons = all(".filters button", table);
    const search = table.querySelector("input[type=search]");
    const shown = table.querySelector(".shown");
    const texts = rows.map((row) => row.textContent.toLowerCase());
    const verdicts = rows.map((row) => row.querySelector("[data-verdict]")?.dataset.verdict ?? "");
    let verdict = "";

    const apply = () => {
      const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
      let count = 0;
      rows.forEach((row, index) => {
        const fits = verdict === "" || verdicts[index] === verdict;
        row.hidden = !(fits && words.every((word) => texts[index].includes(word)));
        count += row.hidden ? 0 : 1;
      });
      shown.textContent = `${count} of ${rows.length} rows`;
    };
    const show = (wanted) => {
      verdict = wanted;
      for (const button of buttons) {
        button.setAttribute("aria-pressed", String(button.dataset.verdict === wanted));
      }
      apply();
    };
    buttons.forEach((button) =>
      button.addEventListener("click", () => show(button.dataset.verdict)),
    );
    search.addEventListener("input", apply);
    apply();
    return { table, show, judged: buttons.length > 0 && !table.matches(".apart") };
  }

  function watchTables() {
    const tables = all(".table").filter((table) => table.querySelector(".controls"));
    const judged = tables.map(watchTable).filter((one) => one.judged);
    for (const chip of all("[data-show]")) {
      chip.addEventListener("click", () => {
        judged.forEach((one) => one.show(chip.dataset.show));
        const holds = (one) => one.table.querySelector("tbody tr:not([hidden])");
        judged.find(holds)?.table.scrollIntoView();
      });
    }
    document.addEventListener("keydown", (event) => {
      const search = document.querySelector("input[type=search]");
      if (event.key !== "/" || event.target.matches("input") || !search) return;
      event.preventDefault();
      search.focus();
    });
  }

  // The heads of tables and what a link leads to stand below the bar, however many lines it has.
  function watchBar() {
    const bar = document.querySelector(".bar");
    const measure = () =>
      document.documentElement.style.setProperty("--bar", `${bar.offsetHeight}px`);
    new ResizeObserver(measure).observe(bar);
    measure();
  }

  watchBar();
  // One by one, so that a page of many can be read meanwhile.
  all(".plot").forEach((box) => setTimeout(() => drawFigure(box)));
  watchTables();
})();
