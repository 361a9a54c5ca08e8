// Asks the module in a thread of its own, so that the page stays alive while it simulates.

import { unpacked } from './unpack';

interface Exports {
  memory: WebAssembly.Memory;
  ff_room(bytes: number): number;
  ff_give_back(at: number, bytes: number): void;
  ff_ask(question: number, bytes: number, file: number, fileBytes: number): number;
}

export interface Job {
  module?: WebAssembly.Module;
  question?: string;
  file?: Uint8Array;
}

export interface Outcome {
  text: string;
  ok: boolean;
  /** How long the module took, milliseconds. */
  took: number;
}

let module: WebAssembly.Module | undefined;
let instance: Exports | undefined;

function put(to: Exports, bytes: Uint8Array): number {
  const at = to.ff_room(bytes.length);
  new Uint8Array(to.memory.buffer, at, bytes.length).set(bytes);
  return at;
}

function ask(to: Exports, question: string, file: Uint8Array): { text: string; ok: boolean } {
  const words = new TextEncoder().encode(question);
  const [at, fileAt] = [put(to, words), put(to, file)];
  const answer = to.ff_ask(at, words.length, fileAt, file.length);
  const head = new DataView(to.memory.buffer, answer, 8);
  const [status, length] = [head.getUint32(0, true), head.getUint32(4, true)];
  const text = new TextDecoder().decode(new Uint8Array(to.memory.buffer, answer + 8, length));
  to.ff_give_back(at, words.length);
  to.ff_give_back(fileAt, file.length);
  to.ff_give_back(answer, length + 8);
  return { text, ok: status === 0 };
}

self.onmessage = async ({ data }: MessageEvent<Job>) => {
  if (data.module) {
    module = data.module;
    return;
  }
  const begun = performance.now();
  let outcome: { text: string; ok: boolean };
  let file: Uint8Array;
  try {
    file = unpacked(data.file ?? new Uint8Array());
  } catch (error) {
    const { message } = error as Error;
    return self.postMessage({ ok: false, text: message, took: 0 } satisfies Outcome);
  }
  try {
    if (!instance && module) {
      instance = (await WebAssembly.instantiate(module, {})).exports as unknown as Exports;
    }
    if (!instance) throw new Error('the simulator did not load');
    outcome = ask(instance, data.question ?? '', file);
  } catch (error) {
    // A module that trapped is in no known state.
    instance = undefined;
    outcome = { ok: false, text: `The simulator stopped: ${error}. Less may be asked of it.` };
  }
  const took = performance.now() - begun;
  self.postMessage({ ...outcome, took } satisfies Outcome);
};
