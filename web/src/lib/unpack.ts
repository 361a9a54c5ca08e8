// Files that are packed: the first bytes tell, not the name.

import { Gunzip } from 'fflate';
import { Decompress } from 'fzstd';

/** The most that comes out of a file, bytes. */
const MOST = 512 << 20;
/** Bytes at a time. */
const PART = 64 << 10;

type Out = (bytes: Uint8Array) => void;
const FORMS: { tool: string; first: number[]; unpack(bytes: Uint8Array, out: Out): void }[] = [
  { tool: 'gzip', first: [0x1f, 0x8b], unpack: gzip },
  { tool: 'zstd', first: [0x28, 0xb5, 0x2f, 0xfd], unpack: zstd },
];

function gzip(bytes: Uint8Array, out: Out): void {
  const unpacker = new Gunzip(out);
  for (let at = 0; at < bytes.length; at += PART) {
    unpacker.push(bytes.subarray(at, at + PART), at + PART >= bytes.length);
  }
}

/** The frames of a .zst, one behind the other (RFC 8878, section 3.1). */
function zstd(bytes: Uint8Array, out: Out): void {
  const byte = (at: number) => bytes[at] ?? NaN;
  for (let at = 0; at < bytes.length; ) {
    const begin = at;
    if ((byte(at) & 0xf0) === 0x50) {
      // One that is to be skipped.
      at += 8 + new DataView(bytes.buffer, bytes.byteOffset + at + 4, 4).getUint32(0, true);
      continue;
    }
    const flags = byte(at + 4);
    const isSingle = (flags >> 5) & 1;
    at += 6 - isSingle + [0, 1, 2, 4][flags & 3]! + ([isSingle, 2, 4, 8][flags >> 6] ?? 0);
    for (let isLast = 0; !isLast && at < bytes.length; ) {
      const head = byte(at) | (byte(at + 1) << 8) | (byte(at + 2) << 16);
      isLast = head & 1;
      // A block of one byte again and again holds it once.
      at += 3 + (((head >> 1) & 3) === 1 ? 1 : head >> 3);
    }
    at += (flags >> 2) & 1 ? 4 : 0;
    new Decompress(out).push(bytes.subarray(begin, at), true);
  }
}

/** The bytes of a file, unpacked if they are packed. */
export function unpacked(bytes: Uint8Array): Uint8Array {
  const form = FORMS.find(({ first }) => first.every((byte, at) => byte === bytes[at]));
  if (!form) return bytes;
  const parts: Uint8Array[] = [];
  let length = 0;
  try {
    form.unpack(bytes, (part) => {
      length += part.length;
      if (length > MOST) throw new Error(`more than ${MOST >> 20} MiB come out of it`);
      parts.push(part.slice());
    });
  } catch (problem) {
    const { message } = problem as Error;
    const accepted = `accepted: at most ${MOST >> 20} MiB, or unpacked: ${form.tool} -d FILE`;
    throw new Error(`the file, packed by ${form.tool}, cannot be read: ${message}; ${accepted}`);
  }
  const all = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}
