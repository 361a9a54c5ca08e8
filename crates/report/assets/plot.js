// One figure as SVG that a reader can zoom and read: panels above one x axis.
"use strict";
const Plot = (() => {
  const DASHES = ["", "2 3", "8 3 2 3"];
  const COLORS = 7;
  const TOP = 8;
  const RIGHT = 16;
  const FOOT = 48;
  const GAP = 16; // between panels
  const SIZE = 12.5; // of type
  const LETTER = 0.6 * SIZE; // about the width of a digit
  const NEAR = 20; // a point so many pixels away still counts as pointed at
  const DRAG = 16; // what is dragged by less is not chosen

  // --- an axis: which values it shows, and where they are (0 at the low end, 1 at the high end)

  const warp = (axis, value) => (axis.log ? Math.log10(value) : value);
  const share = (axis, value) =>
    (warp(axis, value) - warp(axis, axis.from)) / (warp(axis, axis.to) - warp(axis, axis.from));
  const valueAt = (axis, part) => {
    const place = warp(axis, axis.from) + part * (warp(axis, axis.to) - warp(axis, axis.from));
    return axis.log ? 10 ** place : place;
  };
  const zoomed = (axis, from, to) => ({
    ...axis,
    from: valueAt(axis, from),
    to: valueAt(axis, to),
  });

  function ticks(axis, count) {
    const decades = axis.log ? Math.log10(axis.to / axis.from) : 0;
    if (decades < 0.7) return evenTicks(axis, count);
    const factors = decades < count / 3 ? [1, 2, 5] : [1];
    const stride = Math.max(1, Math.ceil(decades / count));
    const found = [];
    for (let power = Math.floor(Math.log10(axis.from)); 10 ** power <= axis.to; power += 1) {
      if (power % stride === 0) found.push(...factors.map((it) => Number(`${it}e${power}`)));
    }
    return found.filter((it) => it >= axis.from && it <= axis.to);
  }

  function evenTicks({ from, to }, count) {
    const rough = (to - from) / count;
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = power * ([1, 2, 5].find((it) => it * power >= rough * (1 - 1e-9)) ?? 10);
    const found = [];
    for (let at = Math.ceil(from / step - 1e-9); at * step <= to + 1e-9 * step; at += 1) {
      found.push(Number((at * step).toPrecision(12)));
    }
    return found;
  }

  const SHORT = new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 6 });
  const tickText = (value) =>
    Math.abs(value) >= 1e4 ? SHORT.format(value) : String(Number(value.toPrecision(6)));
  const valueText = (value) => String(Number(value.toPrecision(6)));

  // --- a curve as the data of paths; `at` gives the place of a point in pixels or nothing

  function linePath(points, steps) {
    let text = "";
    let before;
    for (const point of points) {
      if (!point) before = undefined;
      else if (!before) text += `M${point}`;
      else text += steps ? `H${point[0]}V${point[1]}` : `L${point}`;
      before = point;
    }
    return text;
  }

  const markPath = (points, radius) =>
    points
      .filter(Boolean)
      .map(([x, y]) => `M${x - radius} ${y}a${radius} ${radius} 0 1 0 ${2 * radius} 0`)
      .map((arc) => `${arc}a${radius} ${radius} 0 1 0 ${-2 * radius} 0`)
      .join("");

  // The index of the point nearest to a value of x; -1 if there is none.
  const nearest = (curve, wanted) =>
    curve.x.reduce((best, x, index) => {
      if (x === null || curve.y[index] === null) return best;
      return best < 0 || Math.abs(x - wanted) < Math.abs(curve.x[best] - wanted) ? index : best;
    }, -1);

  return class Plot {
    static color = (slot) => `var(${slot === null ? "--neutral" : `--c${slot % COLORS}`})`;

    constructor(box, picture) {
      this.box = box;
      this.picture = picture;
      this.svg = box.querySelector("svg");
      this.readout = box.querySelector(".readout");
      this.hidden = new Set();
      this.reset();
      new ResizeObserver(() => {
        if (box.clientWidth !== this.width) this.draw();
      }).observe(box);
      const on = (name, act) => this.svg.addEventListener(name, act);
      on("pointerdown", (event) => this.#press(event));
      on("pointermove", (event) => this.#move(event));
      on("pointerup", (event) => this.#release(event));
      on("pointercancel", () => this.#leave());
      on("pointerleave", () => this.#leave());
      on("dblclick", () => this.reset());
    }

    // --- what is seen

    reset() {
      this.x = this.picture.x;
      this.y = this.picture.panels.map((panel) => panel.y);
      this.draw();
    }

    // Shows a part of what the x axis shows, or more of it: from and to are shares of it.
    zoom(from, to) {
      this.x = zoomed(this.x, from, to);
      this.draw();
    }

    show(names) {
      const curves = this.picture.panels.flatMap((panel) => panel.series);
      this.hidden = new Set(curves.filter((curve) => !names.has(curve.name)));
      this.draw();
    }

    // --- drawing

    #put(parent, name, attributes, text = "") {
      const element = document.createElementNS(this.svg.namespaceURI, name);
      for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
      element.textContent = text;
      parent.append(element);
      return element;
    }

    draw() {
      const { clientWidth: width, clientHeight: height } = this.box;
      this.width = width;
      const count = this.picture.panels.length;
      const each = (height - TOP - FOOT - GAP * (count - 1)) / count;
      this.marks = this.y.map((axis) => ticks(axis, Math.max(2, each / 40)));
      const longest = Math.max(...this.marks.flat().map((tick) => tickText(tick).length), 1);
      const left = Math.ceil(2.6 * SIZE + longest * LETTER);
      this.area = { left, top: TOP, width: width - left - RIGHT, height: height - TOP - FOOT };
      this.panels = this.y.map((_, index) => ({ top: TOP + index * (each + GAP), height: each }));
      this.svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
      this.svg.replaceChildren();
      this.panels.forEach((_, index) => this.#drawPanel(index));
      this.#drawFoot();
      const line = { stroke: "var(--axis)", y1: TOP, y2: TOP + this.area.height };
      this.pointer = this.#put(this.svg, "line", { ...line, visibility: "hidden" });
      this.chosen = this.#put(this.svg, "rect", { fill: "var(--link)", opacity: 0.15 });
      this.readout.hidden = true;
    }

    #text(attributes, text) {
      const look = { fill: "var(--ink)", "font-size": SIZE, "font-family": "var(--font)" };
      return this.#put(this.svg, "text", { ...look, ...attributes }, text);
    }

    #line(attributes) {
      this.#put(this.svg, "line", { "shape-rendering": "crispEdges", ...attributes });
    }

    #drawPanel(index) {
      const { left, width } = this.area;
      const { top, height } = this.panels[index];
      const { y, series } = this.picture.panels[index];
      const bottom = top + height;
      for (const tick of this.marks[index]) {
        const at = bottom - share(this.y[index], tick) * height;
        this.#line({ x1: left, x2: left + width, y1: at, y2: at, stroke: "var(--grid)" });
        const place = { x: left - 7, y: at + 0.35 * SIZE, "text-anchor": "end" };
        this.#text(place, tickText(tick));
      }
      for (const tick of this.#xTicks()) {
        const at = left + share(this.x, tick) * width;
        this.#line({ x1: at, x2: at, y1: top, y2: bottom, stroke: "var(--grid)" });
      }
      const turn = `translate(${SIZE} ${top + height / 2}) rotate(-90)`;
      this.#text({ class: "ytitle", transform: turn, "text-anchor": "middle" }, y.label);
      // An inner picture cuts off what leaves the panel.
      const clip = this.#put(this.svg, "svg", { x: left, y: top, width, height });
      for (const curve of series) {
        if (!this.hidden.has(curve)) this.#drawCurve(clip, curve, this.y[index], height);
      }
      const frame = { stroke: "var(--axis)" };
      this.#line({ x1: left, x2: left, y1: top, y2: bottom, ...frame });
      this.#line({ x1: left, x2: left + width, y1: bottom, y2: bottom, ...frame });
    }

    #drawCurve(clip, curve, axis, height) {
      const isReference = curve.style === "reference";
      const { width } = this.area;
      const place = (value, index) => {
        const y = curve.y[index];
        if (value === null || y === null || (axis.log && y <= 0) || (this.x.log && value <= 0)) {
          return undefined;
        }
        const at = [share(this.x, value) * width, (1 - share(axis, y)) * height];
        return at.map((it) => Math.round(Math.max(-1e5, Math.min(1e5, it)) * 10) / 10);
      };
      const points = curve.x.map(place);
      const stroke = Plot.color(curve.slot);
      if (curve.style !== "points") {
        this.#put(clip, "path", {
          class: "curve",
          d: linePath(points, curve.style === "steps"),
          fill: "none",
          stroke,
          "stroke-width": isReference ? 1.3 : 1.8,
          "stroke-linejoin": "round",
          "stroke-dasharray": isReference ? "6 4" : DASHES[Math.floor(curve.slot / COLORS) % 3],
        });
      }
      if (curve.marks) {
        const look = isReference ? { fill: "var(--card)", stroke } : { fill: stroke };
        this.#put(clip, "path", { d: markPath(points, 2.8), ...look });
      }
    }

    #xTicks() {
      return ticks(this.x, Math.max(2, this.area.width / 90));
    }

    #drawFoot() {
      const { left, top, width, height } = this.area;
      const bottom = top + height;
      for (const tick of this.#xTicks()) {
        const x = left + share(this.x, tick) * width;
        this.#line({ x1: x, x2: x, y1: bottom, y2: bottom + 5, stroke: "var(--axis)" });
        this.#text({ x, y: bottom + 6 + SIZE, "text-anchor": "middle" }, tickText(tick));
      }
      const place = { x: left + width / 2, y: bottom + FOOT - 8, "text-anchor": "middle" };
      this.#text(place, this.picture.x.label);
    }

    // --- the pointer

    #place(event) {
      const { left, top } = this.svg.getBoundingClientRect();
      return [event.clientX - left, event.clientY - top];
    }

    #press(event) {
      if (event.button !== 0) return;
      this.from = this.#place(event);
      this.svg.setPointerCapture(event.pointerId);
    }

    #move(event) {
      const to = this.#place(event);
      if (!this.from) {
        this.hover(valueAt(this.x, (to[0] - this.area.left) / this.area.width));
        return;
      }
      const { x, width, y, height } = this.#dragged(to);
      const box = { x, width, y, height };
      for (const [key, value] of Object.entries(box)) this.chosen.setAttribute(key, value);
    }

    // What a drag chooses: all of the height if it is flat, all of the width if it is narrow.
    #dragged([toX, toY]) {
      const [fromX, fromY] = this.from;
      const found = this.panels.findIndex(({ top, height }) => fromY <= top + height + GAP / 2);
      const panel = found < 0 ? this.panels.length - 1 : found;
      const part = (low, length, one, other) => {
        if (Math.abs(one - other) < DRAG) return undefined;
        const shares = [one, other].map((it) => Math.min(1, Math.max(0, (it - low) / length)));
        return shares.sort((a, b) => a - b);
      };
      const { left, width } = this.area;
      const { top, height } = this.panels[panel];
      const wide = part(left, width, fromX, toX);
      const tall = part(top, height, fromY, toY);
      if (!wide && !tall) return {};
      const [right, low] = [wide ?? [0, 1], tall ?? [0, 1]];
      const across = { x: left + right[0] * width, width: (right[1] - right[0]) * width };
      const down = tall
        ? { y: top + low[0] * height, height: (low[1] - low[0]) * height }
        : { y: this.area.top, height: this.area.height };
      return { ...across, ...down, wide, tall, panel };
    }

    #release(event) {
      if (!this.from) return;
      const { wide, tall, panel } = this.#dragged(this.#place(event));
      this.from = undefined;
      const rises = tall?.[1] > tall?.[0];
      if (rises) {
        const part = (axis) => zoomed(axis, 1 - tall[1], 1 - tall[0]);
        this.y = this.y.map((axis, index) => (index === panel ? part(axis) : axis));
      }
      if (wide?.[1] > wide?.[0]) this.zoom(...wide);
      else if (rises) this.draw();
    }

    #leave() {
      this.from = undefined;
      this.chosen.removeAttribute("width");
      this.pointer.setAttribute("visibility", "hidden");
      this.readout.hidden = true;
    }

    // --- reading: what every curve is at the x of the point nearest to a value

    hover(wanted) {
      const { left, width } = this.area;
      const pixels = (x) => left + share(this.x, x) * width;
      const isFar = (x, from) => !(Math.abs(pixels(x) - pixels(from)) <= NEAR);
      const shown = this.picture.panels
        .flatMap((panel) => panel.series.map((curve) => ({ curve, panel })))
        .filter(({ curve }) => !this.hidden.has(curve))
        .map((one) => ({ ...one, at: nearest(one.curve, wanted) }))
        .filter(({ at }) => at >= 0);
      const away = ({ curve, at }) => Math.abs(curve.x[at] - wanted);
      const closest = shown.sort((a, b) => away(a) - away(b))[0];
      const x = closest?.curve.x[closest.at];
      if (!closest || isFar(x, wanted)) return this.#leave();
      const near = shown.filter(({ curve, at }) => !isFar(curve.x[at], x));
      const title = document.createElement("b");
      title.textContent = `${this.picture.x.label}: ${valueText(x)}`;
      this.readout.replaceChildren(title, ...near.map((one) => this.#row(one)));
      this.readout.hidden = false;
      const place = pixels(x);
      const isRight = place > left + width / 2;
      this.readout.style.left = isRight ? "" : `${place + 12}px`;
      this.readout.style.right = isRight ? `${left + width + RIGHT - place + 12}px` : "";
      for (const end of ["x1", "x2"]) this.pointer.setAttribute(end, place);
      this.pointer.setAttribute("visibility", "visible");
    }

    #row({ curve, panel, at }) {
      const row = document.createElement("div");
      const quantity = this.picture.panels.length > 1 ? panel.quantity : "";
      const words = [quantity, valueText(curve.y[at]), panel.unit].filter(Boolean);
      row.textContent = `${curve.name}: ${words.join(" ")}`;
      row.style.setProperty("--swatch", Plot.color(curve.slot));
      return row;
    }

    // --- what is seen, as a picture of its own

    // The text of an SVG whose colours are those of now.
    text(width, height) {
      const style = getComputedStyle(this.box);
      const svg = this.svg.cloneNode(true);
      svg.setAttribute("width", width);
      svg.setAttribute("height", height);
      const value = (_, name) => style.getPropertyValue(name).trim().replaceAll('"', "'");
      return new XMLSerializer().serializeToString(svg).replace(/var\((--\w+)\)/g, value);
    }

    async png() {
      const size = this.box.getBoundingClientRect();
      const canvas = document.createElement("canvas");
      [canvas.width, canvas.height] = [3 * size.width, 3 * size.height];
      const image = new Image();
      const text = this.text(canvas.width, canvas.height);
      image.src = `data:image/svg+xml,${encodeURIComponent(text)}`;
      await image.decode();
      const context = canvas.getContext("2d");
      context.fillStyle = getComputedStyle(this.box).getPropertyValue("--card");
      context.fillRect(0, 0, canvas.width, canvas.height);
      context.drawImage(image, 0, 0);
      return canvas.toDataURL("image/png");
    }
  };
})();
