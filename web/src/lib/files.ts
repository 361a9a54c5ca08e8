// Files of a figure: SVG, PNG and CSV.

import type { Curve, Figure, Panel } from './figure';

/** The colours of the light theme: a file is looked at on paper. */
export const INKS = ['#0b62a4', '#c2410c', '#0f7b54', '#a33b86', '#7a5a00', '#5b4bb7'];

const [WIDTH, HEIGHT, LEFT, TOP, GAP] = [960, 190, 64, 56, 58];

function escaped(text: string): string {
  const named: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
  return text.replace(/[&<>"]/g, (c) => named[c] ?? c);
}

/** Round numbers that part an axis. */
export function ticks(most: number, wanted: number): number[] {
  if (!(most > 0)) return [0];
  const raw = most / wanted;
  const ten = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 2.5, 5, 10].map((it) => it * ten).find((it) => it >= raw) ?? raw;
  return Array.from({ length: Math.floor(most / step + 1e-9) + 1 }, (_, i) => i * step);
}

export function most(panel: Panel, end: number): number {
  const drawn = panel.curves.flatMap(({ x, y }) => y.filter((_, i) => (x[i] ?? 0) <= end));
  const values = [...drawn.map((it) => it ?? 0), ...panel.levels.map((level) => level.y)];
  return values.reduce((all, it) => Math.max(all, it), 0) * 1.06 || 1;
}

function line(curve: Curve, end: number, across: (x: number) => number, up: (y: number) => number) {
  const points = curve.x.flatMap((x, i) => {
    const y = curve.y[i];
    return y === null || y === undefined || x > end ? [] : [`${across(x)},${up(y)}`];
  });
  const ink = INKS[curve.hue % INKS.length];
  const style = curve.minor ? 'stroke-width="1" stroke-dasharray="2 3"' : 'stroke-width="1.8"';
  return `<polyline fill="none" stroke="${ink}" ${style} points="${points.join(' ')}"/>`;
}

function panelOf(panel: Panel, at: number, end: number): string {
  const top = TOP + at * (HEIGHT + GAP);
  const highest = most(panel, end);
  const fixed = (value: number) => Number(value.toFixed(1));
  const across = (x: number) => fixed(LEFT + (x / end) * (WIDTH - LEFT - 24));
  const up = (y: number) => fixed(top + HEIGHT - (y / highest) * HEIGHT);
  const parts = [
    `<text x="${LEFT}" y="${top - 10}" font-weight="600">${escaped(panel.title)}` +
      ` <tspan fill="#667">${escaped(panel.unit)}</tspan></text>`,
  ];
  for (const y of ticks(highest, 4)) {
    parts.push(
      `<line x1="${LEFT}" x2="${WIDTH - 24}" y1="${up(y)}" y2="${up(y)}" stroke="#e3e5ea"/>` +
        `<text x="${LEFT - 8}" y="${up(y) + 4}" text-anchor="end" fill="#667">` +
        `${Number(y.toPrecision(6))}</text>`,
    );
  }
  for (const x of ticks(end, 8)) {
    parts.push(
      `<text x="${across(x)}" y="${top + HEIGHT + 18}" text-anchor="middle" fill="#667">` +
        `${Number(x.toPrecision(6))}</text>`,
    );
  }
  for (const { y, says } of panel.levels) {
    parts.push(
      `<line x1="${LEFT}" x2="${WIDTH - 24}" y1="${up(y)}" y2="${up(y)}" stroke="#889" ` +
        `stroke-dasharray="6 4"/><text x="${WIDTH - 28}" y="${up(y) - 5}" text-anchor="end" ` +
        `fill="#667">${escaped(says)}</text>`,
    );
  }
  return parts.join('\n') + panel.curves.map((it) => line(it, end, across, up)).join('\n');
}

/** The figure as a document of its own. */
export function svg(figure: Figure, heading: string): string {
  const height = TOP + figure.panels.length * (HEIGHT + GAP) + 8;
  const names = figure.names.map(
    (name, hue) =>
      `<tspan fill="${INKS[hue % INKS.length]}" font-weight="600">${escaped(name)}</tspan>  `,
  );
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" ` +
    `viewBox="0 0 ${WIDTH} ${height}" font-family="system-ui, sans-serif" font-size="13">\n` +
    `<rect width="100%" height="100%" fill="#fff"/>\n<title>${escaped(heading)}</title>\n` +
    `<text x="${LEFT}" y="22" xml:space="preserve">${names.join('')}</text>\n` +
    figure.panels.map((panel, at) => panelOf(panel, at, figure.end)).join('\n') +
    `\n<text x="${WIDTH - 24}" y="${height - 8}" text-anchor="end" ` +
    `fill="#667">time, s</text>\n</svg>\n`
  );
}

/** The figure as a picture, twice as large as it is drawn. */
export async function png(figure: Figure, heading: string): Promise<Blob> {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg(figure, heading))}`;
  await image.decode();
  const canvas = document.createElement('canvas');
  [canvas.width, canvas.height] = [image.width * 2, image.height * 2];
  canvas.getContext('2d')?.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve, reject) =>
    canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error('no picture')))),
  );
}

/** The curves as a tidy table: a line for each value. */
export function csv(figure: Figure): string {
  const cell = (text: string) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const lines = ['panel,unit,control,curve,time_s,value'];
  for (const panel of figure.panels) {
    for (const curve of panel.curves) {
      const head = [panel.title, panel.unit, curve.name, curve.minor ? 'minor' : 'main'].map(cell);
      curve.x.forEach((x, i) => lines.push(`${head.join(',')},${x},${curve.y[i] ?? ''}`));
    }
  }
  return `${lines.join('\n')}\n`;
}

/** Hands a file to the reader. */
export function save(name: string, content: Blob | string, kind = 'text/plain'): void {
  const blob = typeof content === 'string' ? new Blob([content], { type: kind }) : content;
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
