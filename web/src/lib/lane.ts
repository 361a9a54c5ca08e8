// Draws one control's packets at one moment: the sender on the left, the queue of the slowest link,
// the receiver on the right; packets above, ACKs below.

import type { Moment } from './slow';
import { inks } from './theme.svelte';

export const LANE = 118;

/** Where things stand, from the left. */
const [SENDER, QUEUE, RECEIVER] = [0.06, 0.34, 0.94];
const [FORWARD, BACK] = [62, 100];
const TALL = 46;

/** Where a lane is, and how many packets the queue holds. */
interface Place {
  width: number;
  top: number;
  buffer: number;
}

export function drawLane(
  ctx: CanvasRenderingContext2D,
  { width, top, buffer }: Place,
  name: string,
  moment: Moment,
  hue: number,
): void {
  const ink = inks();
  const own = ink.curves[hue % ink.curves.length] ?? '#000';
  const colour = (flow: number) => (flow === 0 ? own : ink.faint);
  const [sender, queue, receiver] = [SENDER, QUEUE, RECEIVER].map((it) => it * width) as [
    number,
    number,
    number,
  ];
  const [forward, back] = [top + FORWARD, top + BACK];
  ctx.lineWidth = 1;
  ctx.strokeStyle = ink.grid;
  for (const y of [forward, back]) {
    ctx.beginPath();
    ctx.moveTo(sender, y);
    ctx.lineTo(receiver, y);
    ctx.stroke();
  }
  const dot = (x: number, y: number, size: number, flow: number) => {
    ctx.fillStyle = colour(flow);
    ctx.fillRect(x - size / 2, y - size / 2, size, size);
  };
  for (const { along, flow } of moment.forward) {
    const [from, to] = along < 1 ? [sender, queue] : [queue, receiver];
    dot(from + (along % 1) * (to - from), forward, 5, flow);
  }
  ctx.lineWidth = 1.4;
  for (const { along, flow } of moment.back) {
    ctx.strokeStyle = colour(flow);
    ctx.beginPath();
    ctx.arc(sender + along * (receiver - sender), back, 2.2, 0, 2 * Math.PI);
    ctx.stroke();
  }
  // The oldest waits at the bottom and leaves there.
  const room = Math.max(buffer, moment.queue.length, 1);
  const step = TALL / room;
  moment.queue.forEach((flow, place) => {
    ctx.fillStyle = colour(flow);
    const gap = step > 3 ? 1 : 0;
    ctx.fillRect(queue - 8, forward - 6 - (place + 1) * step, 16, Math.max(step - gap, 0.5));
  });
  ctx.strokeStyle = ink.faint;
  ctx.lineWidth = 1;
  ctx.strokeRect(queue - 10, forward - 7 - TALL, 20, TALL + 1);
  ctx.fillStyle = ink.text;
  ctx.font = '600 14px system-ui, sans-serif';
  for (const { age } of moment.falling) {
    ctx.globalAlpha = 1 - age;
    ctx.fillText('×', queue - 24 - 10 * age, forward - 40 + 60 * age);
  }
  ctx.globalAlpha = 1;
  for (const x of [sender, receiver]) {
    ctx.fillStyle = ink.paper;
    ctx.strokeStyle = ink.text;
    ctx.fillRect(x - 6, forward - 8, 12, back - forward + 16);
    ctx.strokeRect(x - 6, forward - 8, 12, back - forward + 16);
  }
  ctx.textAlign = 'left';
  ctx.font = '600 12px system-ui, sans-serif';
  ctx.fillStyle = own;
  ctx.fillText(name, 0, top + 14, Math.max(queue - 16, 40));
  ctx.font = '11px system-ui, sans-serif';
  ctx.fillStyle = ink.faint;
  ctx.textBaseline = 'alphabetic';
  ctx.textAlign = 'left';
  ctx.fillText('sender', Math.max(0, sender - 18), forward - 14);
  ctx.fillText(`queue: ${moment.queue.length}`, queue + 16, forward - 40);
  ctx.textAlign = 'right';
  ctx.fillText('receiver', Math.min(width, receiver + 22), forward - 14);
  ctx.textAlign = 'center';
  ctx.fillText('packets →', (queue + receiver) / 2, forward - 8);
  ctx.fillText('← ACKs', (queue + receiver) / 2, back - 8);
  ctx.textAlign = 'left';
}
