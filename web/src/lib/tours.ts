// Short tours: a step sets the page and says what is to be seen there.

import { DEFAULT, read, type State } from './state';

export interface Step {
  says: string;
  set: { controls?: string[]; path?: Record<string, string> };
  /** The moment to look at packet by packet, seconds. */
  slow?: string;
}

export interface Tour {
  key: string;
  title: string;
  steps: Step[];
}

export const TOURS: Tour[] = [
  {
    key: 'overshoot',
    title: 'Why slow start overshoots',
    steps: [
      {
        says:
          'Slow start doubles its window every round trip and stops at the first loss. The path ' +
          'holds the lower dashed line; what is beyond waits in the queue below. Play it packet ' +
          'by packet under the curves.',
        set: { controls: ['cubic'], path: { buffer: '1bdp', duration: '1s' } },
        slow: '0.27',
      },
      {
        says:
          'When the buffer is full, packets are lost (▼). The sender hears of it a round trip ' +
          'later (●). Until then the window has doubled once more: as many packets as path and ' +
          'buffer hold are lost.',
        set: { controls: ['cubic'], path: { buffer: '1bdp', duration: '1s' } },
        slow: '0.325',
      },
      {
        says:
          'Drag the buffer. A small one ends start-up early, and little is lost; a large one ' +
          'costs more packets and a longer queue. A longer round trip makes each of them worse.',
        set: { controls: ['cubic'], path: { buffer: '3bdp', duration: '1.5s' } },
        slow: '0.4',
      },
      {
        says:
          'HyStart watches the round trip instead: it grows with the queue, which says that the ' +
          'path is full before anything is lost.',
        set: { controls: ['cubic', 'hystart'], path: { buffer: '1bdp', duration: '1s' } },
        slow: '0.3',
      },
    ],
  },
  {
    key: 'jitter',
    title: 'HyStart and jitter',
    steps: [
      {
        says: 'On a quiet path HyStart ends start-up in time: it sees round trips that grow.',
        set: { controls: ['hystart', 'cubic'], path: { jitter: 'none' } },
        slow: '0.2',
      },
      {
        says:
          'Here packets are late at random, as on WiFi, and HyStart takes that for a queue. It ' +
          'leaves (●) with a small window, and the path stays empty. Drag the jitter.',
        set: { controls: ['hystart', 'cubic'], path: { jitter: '10ms', duration: '4s' } },
        slow: '0.139',
      },
    ],
  },
  {
    key: 'landing',
    title: 'Rapid Start’s landing',
    steps: [
      {
        says:
          'Rapid Start accepts a large overshoot and then sets the window anew from what arrives ' +
          'while it repairs the losses.',
        set: { controls: ['rapid-start', 'cubic'], path: { rtt: '100ms', duration: '3s' } },
        slow: '0.6',
      },
      {
        says: 'On a satellite path each round trip saved is worth half a second.',
        set: {
          controls: ['rapid-start', 'cubic', 'hystart-pp'],
          path: { rtt: '600ms', size: '10MB', duration: '12s' },
        },
        slow: '1.5',
      },
    ],
  },
  {
    key: 'train',
    title: 'Scout’s train',
    steps: [
      {
        says:
          'Scout sends a short train of packets first and measures how far apart they arrive: ' +
          'that is what the path carries, known after one round trip.',
        set: { controls: ['scout', 'cubic', 'hystart-pp'], path: { size: '5MB', duration: '4s' } },
        slow: '0.055',
      },
    ],
  },
];

/** The state at a step; what the tour does not set is as in the default. */
export function at(tour: Tour, place: number): State {
  const step = tour.steps[place] ?? tour.steps[0];
  return {
    ...structuredClone(DEFAULT),
    controls: step?.set.controls ?? [...DEFAULT.controls],
    path: { ...DEFAULT.path, ...step?.set.path },
    slow: step?.slow ?? '',
    tour: `${tour.key}-${place + 1}`,
  };
}

/** The state of an address, which may name a step of a tour and leave the rest to it. */
export function reached(hash: string): State {
  const state = read(hash);
  const step = found(state.tour);
  return step && /^#?tour=[^&]*$/.test(hash) ? at(step.tour, step.place) : state;
}

/** The tour and the place that a state names. */
export function found(name: string): { tour: Tour; place: number } | undefined {
  const [key, number] = name.split('-');
  const tour = TOURS.find((it) => it.key === key);
  const place = Number(number) - 1;
  return tour && tour.steps[place] ? { tour, place } : undefined;
}
