// Quantities as firstflight writes them (`50Mbps`, `40ms`, `1bdp`), and the steps of their sliders.

export interface Quantity {
  /** The flag of the command and the key of the address, without dashes. */
  key: string;
  label: string;
  /** What it is, for whoever has never heard of it. */
  hint: string;
  /** The values at which a slider stops, as written. */
  steps: string[];
  /** The value that leaves the flag out. */
  none?: string;
}

const UNITS: Record<string, number> = {
  bps: 1,
  kbps: 1e3,
  Mbps: 1e6,
  Gbps: 1e9,
  ns: 1e-9,
  us: 1e-6,
  ms: 1e-3,
  s: 1,
  B: 1,
  KB: 1e3,
  MB: 1e6,
  GB: 1e9,
  KiB: 1024,
  MiB: 1048576,
  GiB: 1073741824,
  bdp: 1,
  '%': 0.01,
  pkt: 1,
};

/** The number of a quantity in base units; NaN for what is none. */
export function number(text: string): number {
  const found = /^\s*([0-9.]+(?:e[0-9]+)?)\s*([A-Za-z%]*)\s*$/.exec(text);
  return found ? Number(found[1]) * (UNITS[found[2] ?? ''] ?? NaN) : NaN;
}

/** `50 Mbit/s`, `1 BDP`: a quantity for people. */
export function spoken(text: string): string {
  const found = /^([0-9.]+)([A-Za-z%]+)$/.exec(text.trim());
  if (!found) return text;
  const [, digits, unit = ''] = found;
  const words: Record<string, string> = {
    bps: 'bit/s',
    kbps: 'kbit/s',
    Mbps: 'Mbit/s',
    Gbps: 'Gbit/s',
    us: 'µs',
    bdp: 'BDP',
    pkt: 'packets',
    KB: 'kB',
  };
  return `${digits}\u202f${words[unit] ?? unit}`;
}

/** The place of the step that is nearest by ratio. */
export function nearest(steps: string[], text: string): number {
  const wanted = number(text);
  if (!(wanted >= 0)) return Math.max(0, steps.indexOf(text));
  const far = (step: string) => Math.abs(Math.log((number(step) + 1e-12) / (wanted + 1e-12)));
  let best = -1;
  steps.forEach((step, at) => {
    if (Number.isNaN(number(step))) return;
    if (best < 0 || far(step) < far(steps[best] ?? '')) best = at;
  });
  return Math.max(0, best);
}

/** Round values, several to a decade, from `from` to `to` of base units. */
function decades(from: number, to: number, units: [number, string][]): string[] {
  const all: string[] = [];
  for (let ten = 10 ** Math.floor(Math.log10(from)); ten <= to * 1.001; ten *= 10) {
    for (const digit of [1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8]) {
      const value = digit * ten;
      if (value < from * 0.999 || value > to * 1.001) continue;
      const [size, unit] = units.find(([size]) => value >= size * 0.999) ?? units.at(-1)!;
      all.push(`${Number((value / size).toPrecision(3))}${unit}`);
    }
  }
  return all;
}

const RATE: [number, string][] = [
  [1e9, 'Gbps'],
  [1e6, 'Mbps'],
  [1e3, 'kbps'],
];
const TIME: [number, string][] = [
  [1, 's'],
  [1e-3, 'ms'],
  [1e-6, 'us'],
];
const SIZE: [number, string][] = [
  [1e9, 'GB'],
  [1e6, 'MB'],
  [1e3, 'KB'],
];

export const PATH: Quantity[] = [
  {
    key: 'rate',
    label: 'Rate',
    steps: decades(1e5, 2e9, RATE),
    hint: 'What the slowest link of the path carries.',
  },
  {
    key: 'rtt',
    label: 'Round trip',
    steps: decades(1e-3, 1.2, TIME),
    hint: 'The time to the receiver and back, without any queue.',
  },
  {
    key: 'buffer',
    label: 'Buffer',
    steps: decades(0.05, 10, [[1, 'bdp']]),
    hint: 'How much may wait at that link; 1 BDP is as much as the path itself holds.',
  },
  {
    key: 'loss',
    label: 'Random loss',
    none: '0%',
    steps: ['0%', ...decades(0.0001, 0.05, [[0.01, '%']])],
    hint: 'Packets that vanish without any queue, as on a radio link.',
  },
  {
    key: 'jitter',
    label: 'Jitter',
    none: 'none',
    steps: ['none', ...decades(1e-4, 0.1, TIME)],
    hint: 'By how much a packet may be late at random, as on WiFi.',
  },
];

export const TRANSFER: Quantity[] = [
  {
    key: 'size',
    label: 'Transfer',
    none: 'unlimited',
    steps: [...decades(1e4, 1e8, SIZE), 'unlimited'],
    hint: 'How much is sent; without an end the sender always has more.',
  },
  {
    key: 'duration',
    label: 'Time shown',
    steps: decades(0.2, 60, TIME),
    hint: 'How long the simulation runs.',
  },
];
