// Packets and ACKs at one moment: where each is, how many are where, and that in words.

import type { Followed } from './answers';
import { count, digits } from './figure';

/** Where packets and ACKs of a control are. */
export interface Moment {
  /** On the way: from the sender (0) to the queue (1), or from there to the receiver (2). */
  forward: { along: number; flow: number }[];
  /** From the receiver (1) to the sender (0). */
  back: { along: number; flow: number }[];
  /** Flows of the packets that wait, the oldest first. */
  queue: number[];
  /** How long ago packets were lost, as a share of `fading`. */
  falling: { age: number; flow: number }[];
  lost: number;
  received: number;
}

/** The moment `now`; what is lost is seen for so many seconds. */
export function momentOf({ packets, acks }: Followed, now: number, fading: number): Moment {
  const all: Moment = { forward: [], back: [], queue: [], falling: [], lost: 0, received: 0 };
  const share = (from: number, to: number) => (to > from ? (now - from) / (to - from) : 1);
  const waiting: [number, number][] = [];
  for (const [flow, , left, came, sent, lost, received] of packets) {
    if (left > now) break;
    if (lost !== null && lost <= now) {
      all.lost += 1;
      if (now - lost < fading) all.falling.push({ age: (now - lost) / fading, flow });
    } else if (received !== null && received <= now) {
      all.received += 1;
    } else if (came === null || came > now) {
      // Of one that the run's end overtakes nobody knows when it comes.
      if (came !== null) all.forward.push({ along: share(left, came), flow });
    } else if (sent === null || sent > now) {
      waiting.push([came, flow]);
    } else if (received !== null) {
      all.forward.push({ along: 1 + share(sent, received), flow });
    }
  }
  all.queue = waiting.sort(([one], [other]) => one - other).map(([, flow]) => flow);
  for (const [flow, , left, home] of acks) {
    if (left <= now && home > now) all.back.push({ along: 1 - share(left, home), flow });
  }
  return all;
}

/** The moment for whoever does not see it, and for whoever asks what it shows. */
export function inWords(name: string, moment: Moment): string {
  const { forward, queue, back, lost } = moment;
  return (
    `${name}: ${count(forward.length, 'packet')} on the forward path, ` +
    `${queue.length.toLocaleString('en')} in the queue, ` +
    `${count(back.length, 'ACK')} on the way back, ${lost.toLocaleString('en')} lost so far.`
  );
}

/** `123 ms`. */
export function clock(seconds: number): string {
  return seconds < 1 ? `${digits(seconds * 1e3)} ms` : `${digits(seconds, 4)} s`;
}
