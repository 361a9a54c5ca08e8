// The simulator as the page asks it: one question at a time, the newest first.

import Thread from './worker?worker&inline';
import type { Job, Outcome } from './worker';

/** A question of crates/web, which is called as `ask` says. */
export type Question = { ask: string } & Record<string, unknown>;

declare global {
  interface Window {
    firstflight(question: Question, file?: Uint8Array): Promise<string>;
    /** What is compared, in the words of the Python package. */
    firstflightShows(): Record<string, unknown>;
  }
}

export type Answer<T> =
  | { kind: 'answer'; value: T; took: number }
  | { kind: 'wrong'; message: string }
  | { kind: 'overtaken' };

interface Waiting {
  question: Question;
  file?: Uint8Array;
  resolve(answer: Answer<string>): void;
}

/** A run that is this long under way is ended for a newer question, milliseconds. */
const LONG = 250;

export class Simulator {
  #module: Promise<WebAssembly.Module>;
  #thread: Worker | undefined;
  #asked: (Waiting & { since: number }) | undefined;
  #next: Waiting | undefined;
  #patience: number;
  #clock = 0;

  /** `patience` is after how many milliseconds a question is given up. */
  constructor(module: Promise<WebAssembly.Module>, patience: number) {
    this.#module = module;
    this.#patience = patience;
  }

  /** The answer; an older question that has none yet is overtaken. */
  async ask<T>(question: Question, file?: Uint8Array): Promise<Answer<T>> {
    const reply = await this.#reply(question, file);
    return reply.kind === 'answer' ? { ...reply, value: JSON.parse(reply.value) as T } : reply;
  }

  /** The text of the answer. */
  async text(question: Question, file?: Uint8Array): Promise<string> {
    const reply = await this.#reply(question, file);
    if (reply.kind === 'answer') return reply.value;
    throw new Error(reply.kind === 'wrong' ? reply.message : 'overtaken by another question');
  }

  #reply(question: Question, file?: Uint8Array): Promise<Answer<string>> {
    return new Promise((resolve) => {
      this.#next?.resolve({ kind: 'overtaken' });
      this.#next = { question, file, resolve };
      if (this.#asked && performance.now() - this.#asked.since > LONG) this.stop();
      void this.#begin();
    });
  }

  /** Ends what is under way; its question is overtaken. */
  stop(): void {
    clearTimeout(this.#clock);
    this.#thread?.terminate();
    this.#thread = undefined;
    this.#asked?.resolve({ kind: 'overtaken' });
    this.#asked = undefined;
  }

  async #begin(): Promise<void> {
    if (this.#asked || !this.#next) return;
    const asked = { ...this.#next, since: performance.now() };
    this.#asked = asked;
    this.#next = undefined;
    try {
      const module = await this.#module;
      if (this.#asked !== asked) return;
      const thread = (this.#thread ??= this.#start(module));
      this.#clock = window.setTimeout(() => this.#giveUp(), this.#patience);
      const { ask, ...rest } = asked.question;
      const question = JSON.stringify({ [ask]: rest });
      thread.postMessage({ question, file: asked.file } satisfies Job);
    } catch (error) {
      this.#done({ kind: 'wrong', message: `The simulator could not be loaded: ${error}` });
    }
  }

  #start(module: WebAssembly.Module): Worker {
    const thread = new Thread();
    thread.onmessage = ({ data }: MessageEvent<Outcome>) => this.#receive(data);
    thread.onerror = (event) => this.#done({ kind: 'wrong', message: event.message });
    thread.postMessage({ module } satisfies Job);
    return thread;
  }

  #receive({ ok, text, took }: Outcome): void {
    this.#done(ok ? { kind: 'answer', value: text, took } : { kind: 'wrong', message: text });
  }

  #giveUp(): void {
    const asked = this.#asked;
    this.#asked = undefined;
    this.stop();
    const less =
      asked?.question.ask === 'show'
        ? 'A shorter record'
        : 'A lower rate, a shorter time or a smaller transfer';
    const message =
      `This takes longer than ${this.#patience / 1000} s in a browser. ` +
      `${less} is done sooner; the command on your own machine has no limit.`;
    asked?.resolve({ kind: 'wrong', message });
    void this.#begin();
  }

  #done(answer: Answer<string>): void {
    clearTimeout(this.#clock);
    this.#asked?.resolve(answer);
    this.#asked = undefined;
    void this.#begin();
  }
}

/** The module, from this file where it holds it, else from beside it. */
export async function load(): Promise<WebAssembly.Module> {
  const held = document.getElementById('module')?.textContent;
  const packed = held
    ? Uint8Array.from(atob(held), (c) => c.charCodeAt(0))
    : new Uint8Array(await (await fetch('firstflight.wasm.gz')).arrayBuffer());
  // Some servers unpack what ends in .gz themselves.
  if (packed[0] !== 0x1f) return WebAssembly.compile(packed);
  const plain = new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'));
  return WebAssembly.compile(await new Response(plain).arrayBuffer());
}
