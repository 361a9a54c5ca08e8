// Draws the figures of a report and filters its tables. Needs only what the page carries.
"use strict";
(() => {
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const DASHES = ["solid", "dot", "dashdot"];
  const COLORS = 7;
  const AXIS_FONT = 15; // px
  const [EDGE, FOOT] = [8, 48]; // px above and below the panels
  const PAUSE = 120; // ms between figures drawn ahead of being seen

  // --- plotly.js, unpacked once and only when the first figure is needed

  let library;
  const plotly = () => (library ??= unpack());

  async function unpack() {
    const text = atob(document.getElementById("plotly").textContent.trim());
    const bytes = Uint8Array.from(text, (letter) => letter.charCodeAt(0));
    const script = document.createElement("script");
    script.textContent = await gunzip(bytes);
    document.head.append(script);
    return window.Plotly;
  }

  // Stays on this thread (no Blob, no Response), so that nothing has to be waited for.
  async function gunzip(bytes) {
    const stream = new DecompressionStream("gzip");
    const writer = stream.writable.getWriter();
    writer.write(bytes);
    writer.close();
    const reader = stream.readable.getReader();
    const decoder = new TextDecoder();
    let text = "";
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return text + decoder.decode();
      text += decoder.decode(value, { stream: true });
    }
  }

  // --- figures

  const pictures = new Map(); // plot element -> the figure's data
  const css = (name) => getComputedStyle(document.body).getPropertyValue(name).trim();
  const color = (slot) => css(slot === null ? "--neutral" : `--c${slot % COLORS}`);
  // Plotly reads its labels as a kind of HTML.
  const plain = (text) =>
    text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
  const nth = (name, index) => (index === 0 ? name : name + (index + 1));

  const dash = (curve) =>
    curve.style === "reference" ? "dash" : DASHES[Math.floor(curve.slot / COLORS) % 3];

  function trace(curve, panel, index, stacked) {
    const lines = curve.style !== "points";
    const quantity = stacked ? `${panel.quantity} ` : "";
    return {
      x: curve.x,
      y: curve.y,
      xaxis: "x",
      yaxis: nth("y", index),
      name: plain(curve.name),
      mode: [lines && "lines", curve.marks && "markers"].filter(Boolean).join("+"),
      line: {
        color: color(curve.slot),
        width: curve.style === "reference" ? 1.3 : 1.8,
        shape: curve.style === "steps" ? "hv" : "linear",
        dash: dash(curve),
      },
      marker: {
        color: color(curve.slot),
        size: lines ? 6 : 5,
        symbol: curve.style === "reference" ? "circle-open" : "circle",
      },
      hovertemplate: `${plain(quantity)}%{y:.6~g} ${plain(panel.unit)}`,
    };
  }

  const traces = (picture) =>
    picture.panels.flatMap((panel, index) =>
      panel.series.map((curve) => trace(curve, panel, index, picture.panels.length > 1)),
    );

  // The name of an axis in lines that are no longer than the axis, pixels.
  function wrapped(label, room) {
    const pen = document.createElement("canvas").getContext("2d");
    pen.font = `${AXIS_FONT}px ${css("--font")}`;
    const lines = [];
    for (const word of label.split(" ")) {
      const longer = [...lines.slice(-1), word].join(" ");
      if (lines.length && pen.measureText(longer).width <= room) lines[lines.length - 1] = longer;
      else lines.push(word);
    }
    return lines.map(plain).join("<br>");
  }

  function layout(picture, plot) {
    const count = picture.panels.length;
    const gap = count > 1 ? 0.05 : 0;
    const height = (1 - gap * (count - 1)) / count;
    const axis = (scaled, room) => ({
      title: { text: wrapped(scaled.label, room), standoff: 8, font: { size: AXIS_FONT } },
      type: scaled.log ? "log" : "linear",
      gridcolor: css("--grid"),
      linecolor: css("--axis"),
      zeroline: false,
      showline: true,
      ticks: "outside",
      tickcolor: css("--axis"),
      automargin: true,
    });
    const result = {
      autosize: true,
      margin: { l: 64, r: 16, t: EDGE, b: FOOT },
      paper_bgcolor: "rgba(0,0,0,0)",
      plot_bgcolor: "rgba(0,0,0,0)",
      font: { family: css("--font"), size: 12.5, color: css("--ink") },
      showlegend: false,
      dragmode: "zoom",
      hovermode: "x unified",
      hoversubplots: "axis",
      hoverlabel: { bgcolor: css("--card"), bordercolor: css("--axis") },
      modebar: { bgcolor: "rgba(0,0,0,0)", color: css("--axis"), activecolor: css("--ink") },
      xaxis: {
        ...axis(picture.x, Infinity),
        anchor: nth("y", count - 1),
        hoverformat: ".6~g",
        showspikes: true,
        spikemode: "across",
        spikethickness: -1,
        spikedash: "solid",
        spikecolor: css("--axis"),
      },
    };
    picture.panels.forEach((panel, index) => {
      const top = 1 - index * (height + gap);
      result[nth("yaxis", index)] = {
        ...axis(panel.y, height * (parseFloat(plot.style.height) - EDGE - FOOT)),
        domain: [Math.max(0, top - height), top],
        rangemode: "tozero",
        ...(panel.top && { range: [0, panel.top * 1.05] }),
      };
    });
    return result;
  }

  const config = {
    responsive: true,
    displaylogo: false,
    doubleClick: "reset",
    modeBarButtonsToRemove: ["select2d", "lasso2d", "autoScale2d"],
    toImageButtonOptions: { format: "png", scale: 3 },
  };

  async function draw(plot) {
    if (pictures.has(plot)) return;
    const picture = JSON.parse(plot.parentElement.querySelector("script").textContent);
    pictures.set(plot, picture);
    const Plotly = await plotly();
    await Plotly.newPlot(plot, traces(picture), layout(picture, plot), config);
    legend(plot, picture);
    plot.addEventListener("keydown", (event) => steer(Plotly, plot, event));
    plot.dataset.drawn = "yes";
  }

  function legend(plot, picture) {
    const curves = picture.panels.flatMap((panel) => panel.series);
    const box = plot.parentElement.querySelector(".legend");
    const entries = picture.legend.map((name) => {
      const curve = curves.find((one) => one.name === name);
      const entry = document.createElement("button");
      entry.type = "button";
      entry.textContent = name;
      entry.setAttribute("aria-pressed", "true");
      entry.title = "click: show or hide; double-click: only this one";
      entry.className = curve.style;
      entry.style.setProperty(
        "--swatch",
        `var(${curve.slot === null ? "--neutral" : `--c${curve.slot % COLORS}`})`,
      );
      return entry;
    });
    const pressed = (entry) => entry.getAttribute("aria-pressed") === "true";
    const apply = () => {
      const shown = new Set(entries.filter(pressed).map((entry) => entry.textContent));
      window.Plotly.restyle(plot, { visible: curves.map((curve) => shown.has(curve.name)) });
    };
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
    box.replaceChildren(...entries);
  }

  // Moves by a fifth of what is seen; zooms by a factor of 1.5 around the middle.
  function steer(Plotly, plot, event) {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const [from, to] = plot._fullLayout.xaxis.range;
    const width = to - from;
    const moves = {
      ArrowLeft: [from - width / 5, to - width / 5],
      ArrowRight: [from + width / 5, to + width / 5],
      "+": [from + width / 6, to - width / 6],
      "-": [from - width / 4, to + width / 4],
    };
    const key = event.key === "=" ? "+" : event.key;
    if (moves[key]) Plotly.relayout(plot, { "xaxis.range": moves[key] });
    else if (key === "0") Plotly.relayout(plot, resetAxes(plot));
    else return;
    event.preventDefault();
  }

  const resetAxes = (plot) =>
    Object.fromEntries(
      Object.keys(plot._fullLayout)
        .filter((key) => /^[xy]axis\d*$/.test(key))
        .map((key) => [`${key}.autorange`, true]),
    );

  function redraw() {
    for (const [plot, picture] of pictures) {
      if (!plot.dataset.drawn) continue;
      window.Plotly.react(plot, traces(picture), layout(picture, plot), config);
    }
  }

  function watchFigures() {
    const plots = all(".plot");
    if (plots.length === 0) return;
    if (!window.DecompressionStream) {
      document.getElementById("too-old").hidden = false;
      return;
    }
    const seen = new IntersectionObserver(
      (entries) => entries.filter((one) => one.isIntersecting).forEach((one) => draw(one.target)),
      { rootMargin: "300px" },
    );
    for (const plot of plots) {
      if (plot.getBoundingClientRect().top < innerHeight) draw(plot);
      else seen.observe(plot);
    }
    // The rest follows one by one, so that a printed page has all its figures.
    const next = async () => {
      const plot = plots.find((one) => !pictures.has(one));
      if (!plot) return;
      await draw(plot);
      setTimeout(next, PAUSE);
    };
    setTimeout(next, PAUSE);
    // Paper is light even when the screen is dark.
    for (const change of ["(prefers-color-scheme: dark)", "print"]) {
      matchMedia(change).addEventListener("change", redraw);
    }
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
  watchFigures();
  watchTables();
})();
