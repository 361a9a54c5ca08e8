// What the page shows, as it stands in the address behind `#`.

import { PATH, TRANSFER } from './quantities';

export type View = 'compare' | 'record' | 'catalogue' | 'advise';
export const VIEWS: View[] = ['compare', 'record', 'catalogue', 'advise'];

export type Beside = 'nothing' | 'itself' | 'cubic';
export const BESIDE: Beside[] = ['nothing', 'itself', 'cubic'];

export interface State {
  view: View;
  controls: string[];
  /** Quantities as written, by their keys. */
  path: Record<string, string>;
  beside: Beside;
  /** The scenario of the catalogue. */
  scenario: string;
  /** The moment that is shown packet by packet, seconds; empty for none. */
  slow: string;
  /** Nothing but the plot. */
  plot: boolean;
  /** The step of a tour that is told, `overshoot-2`; empty for none. */
  tour: string;
}

export const DEFAULT: State = {
  view: 'compare',
  controls: ['cubic', 'hystart-pp'],
  path: {
    rate: '50Mbps',
    rtt: '40ms',
    buffer: '1bdp',
    loss: '0%',
    jitter: 'none',
    size: 'unlimited',
    duration: '1.2s',
  },
  beside: 'nothing',
  scenario: 'A1',
  slow: '',
  plot: false,
  tour: '',
};

/** More curves are not told apart. */
export const MOST_CONTROLS = 6;
/** Longer words than these are nobody's quantity and no control. */
const MOST_LETTERS = 200;

/** The state of an address; what it does not say is as in the default. */
export function read(hash: string): State {
  const parameters = new URLSearchParams(hash.replace(/^#/, '').slice(0, 4000));
  const word = (key: string) => parameters.get(key)?.slice(0, MOST_LETTERS);
  const one = <T extends string>(key: string, all: readonly T[], usual: T): T =>
    all.find((it) => it === word(key)) ?? usual;
  const named = parameters.getAll('control').map((it) => it.slice(0, MOST_LETTERS));
  const controls = [...new Set(named)];
  const path = { ...DEFAULT.path };
  for (const { key } of [...PATH, ...TRANSFER]) path[key] = word(key) ?? path[key] ?? '';
  return {
    view: one('view', VIEWS, DEFAULT.view),
    controls: controls.length ? controls.slice(0, MOST_CONTROLS) : [...DEFAULT.controls],
    path,
    beside: one('beside', BESIDE, DEFAULT.beside),
    scenario: word('scenario') ?? DEFAULT.scenario,
    slow: Number(word('slow')) >= 0 ? (word('slow') ?? '') : '',
    plot: parameters.has('plot'),
    tour: word('tour') ?? '',
  };
}

/** The address of a state, with what differs from the default. */
export function write(state: State): string {
  const parameters = new URLSearchParams();
  if (state.view !== DEFAULT.view) parameters.set('view', state.view);
  if (state.controls.join(' ') !== DEFAULT.controls.join(' ')) {
    state.controls.forEach((control) => parameters.append('control', control));
  }
  for (const { key } of [...PATH, ...TRANSFER]) {
    const value = state.path[key] ?? '';
    if (value !== DEFAULT.path[key]) parameters.set(key, value);
  }
  if (state.beside !== DEFAULT.beside) parameters.set('beside', state.beside);
  if (state.view === 'catalogue') parameters.set('scenario', state.scenario);
  if (state.slow) parameters.set('slow', state.slow);
  if (state.plot) parameters.set('plot', '');
  if (state.tour) parameters.set('tour', state.tour);
  const text = parameters.toString();
  return text ? `#${text}` : '#';
}

/** The flags of the path that are not left out. */
export function flags({ path, beside }: State): [string, string][] {
  const given = [...PATH, ...TRANSFER].filter((it) => path[it.key] !== it.none);
  const all = given.map((it): [string, string] => [`--${it.key}`, path[it.key] ?? '']);
  return beside === 'itself' ? [...all, ['--flows', '2']] : all;
}

/** A scenario file, for what no flags can say: a flow with a control of its own beside. */
export function toml({ controls, path, beside }: State): string {
  const text = (value: string) => JSON.stringify(value);
  const set = (keys: string[]) =>
    [...PATH, ...TRANSFER]
      .filter((it) => keys.includes(it.key) && path[it.key] !== it.none)
      .map((it) => `${it.key} = ${text(path[it.key] ?? '')}`);
  const lines = [
    `controls = [${controls.map(text).join(', ')}]`,
    ...set(['duration']),
    '',
    '[path]',
    ...set(['rate', 'rtt', 'buffer', 'loss', 'jitter']),
    '',
    '[[flow]]',
    ...set(['size']),
  ];
  if (beside === 'cubic') lines.push('', '[[flow]]', 'control = "cubic"');
  return `${lines.join('\n')}\n`;
}

/** A word for a shell. */
function quoted(word: string): string {
  return /^[A-Za-z0-9_.,:+%-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** The command that says as much. */
export function command(state: State): string {
  if (state.beside === 'cubic') return 'firstflight run beside.toml';
  const words = ['firstflight', 'compare', ...state.controls, ...flags(state).flat()];
  return words.map(quoted).join(' ');
}

/** The call of the Python package that says as much. */
export function python(state: State): string {
  if (state.beside === 'cubic') return 'firstflight.run("beside.toml")';
  const { controls, ...path } = named(state);
  const rest = Object.entries(path).map(([name, value]) => `${name}=${JSON.stringify(value)}`);
  return `firstflight.compare(${[JSON.stringify(controls), ...rest].join(', ')})`;
}

/** The arguments of that call. */
export function named(state: State): Record<string, string | number | string[]> {
  const value = (flag: string, text: string) => (flag === '--flows' ? Number(text) : text);
  const path = flags(state).map(([flag, text]) => {
    return [flag.slice(2).replaceAll('-', '_'), value(flag, text)];
  });
  return { controls: state.controls, ...Object.fromEntries(path) };
}
