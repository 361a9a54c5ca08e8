// Controls on one path, as they are asked, answered and drawn.

import type { Compared, Followed } from './answers';
import { compared, type Figure } from './figure';
import type { Question, Simulator } from './simulator';
import { flags, toml, type State } from './state';

/** As many samples as the picture is wide, so that a drag draws no more than is seen. */
const SAMPLES = 700;
/** As many packets of a control as a short run sends; of a longer one its begin. */
const PACKETS = 20_000;

export class Comparison {
  answer = $state.raw<Compared | undefined>();
  readonly figure: Figure | undefined = $derived(this.answer && compared(this.answer));
  /** The ways of its packets, once they are asked for. */
  ways = $state.raw<Followed[] | undefined>();
  wrong = $state('');
  isBusy = $state(false);
  /** From the question to the picture, milliseconds. */
  took = $state(0);

  #simulator: Simulator;

  constructor(simulator: Simulator) {
    this.#simulator = simulator;
  }

  /** Runs what the page shows. */
  async run(shown: State): Promise<void> {
    const begun = performance.now();
    this.isBusy = true;
    const reply = await this.#ask<Compared>(shown, ['compare', 'scenario'], { samples: SAMPLES });
    if (reply.kind === 'overtaken') return;
    this.isBusy = false;
    this.wrong = reply.kind === 'wrong' ? reply.message : '';
    if (reply.kind === 'wrong') return;
    this.ways = undefined;
    this.answer = reply.value;
    await new Promise(requestAnimationFrame);
    this.took = performance.now() - begun;
    performance.measure('drawn', { start: begun, end: performance.now() });
  }

  /** Follows the packets of what the page shows. */
  async follow(shown: State): Promise<void> {
    const asks: [string, string] = ['follow', 'follow-scenario'];
    const reply = await this.#ask<Followed[]>(shown, asks, { packets: PACKETS });
    if (reply.kind === 'answer') this.ways = reply.value;
    if (reply.kind === 'wrong') this.wrong = reply.message;
  }

  /** A question about a path of flags, or about a file where no flags say as much. */
  #ask<T>(shown: State, [ofPath, ofFile]: [string, string], more: Omit<Question, 'ask'>) {
    const { controls, beside } = shown;
    if (beside !== 'cubic') {
      return this.#simulator.ask<T>({ ask: ofPath, controls, path: flags(shown), ...more });
    }
    const text = new TextEncoder().encode(toml(shown));
    return this.#simulator.ask<T>({ ask: ofFile, name: 'beside.toml', ...more }, text);
  }
}

/** What of a state the answer depends on: the moment that is shown asks nothing anew. */
export function asks({ controls, path, beside }: State): string {
  return JSON.stringify([controls, path, beside]);
}

/** A moment worth looking at: shortly before the first loss, or else in the third round. */
export function startOf({ runs, path }: Compared): number {
  const lost = runs.flatMap((run) => run.moments[0] ?? []).find((it) => it.what === 'lost');
  return Math.min(lost ? lost.time_s - path.rtt_s / 4 : 3 * path.rtt_s, path.duration_s);
}
