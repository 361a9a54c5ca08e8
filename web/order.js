// Makes a module smaller to send: functions whose names are alike stand side by side, since gzip
// sees 32 KB at a time, numbers take as few bytes as they need, and what is for debuggers is gone.
// The binary format is that of the WebAssembly core specification 2.0, chapter 5.

const [CUSTOM, IMPORT, FUNCTION, EXPORT, START, ELEMENT, CODE] = [0, 2, 3, 7, 8, 9, 10];

/** The module with its functions in the order of their names. */
export function ordered(module) {
  const all = new Reader(module);
  const head = all.bytes(8);
  const sections = [];
  let names = [];
  let bodies = [];
  while (all.at < module.length) {
    const [id, content] = [all.byte(), all.bytes(all.unsigned())];
    if (id === IMPORT) throw new Error('the module has an import');
    if (id === CUSTOM) names = namesOf(content) ?? names;
    else sections.push([id, content]);
    if (id === CODE) bodies = bodiesOf(new Reader(content));
  }
  // Which function stands at each place, by its number; and where each stands. One of a generic is
  // told from the others by a hash at the end of its name: they stand by what they hold instead.
  const order = [...names.keys()];
  names = names.map((name) => name.replace(/17h[0-9a-f]{16}E$/, ''));
  const byName = (a, b) => (names[a] < names[b] ? -1 : names[a] > names[b] ? 1 : 0);
  order.sort((a, b) => byName(a, b) || Buffer.compare(bodies[a], bodies[b]));
  const moved = [];
  order.forEach((number, place) => (moved[number] = place));
  const rewritten = { [FUNCTION]: types, [EXPORT]: exports, [ELEMENT]: elements, [CODE]: code };
  const out = new Writer();
  out.bytes(head);
  for (const [id, content] of sections) {
    if (id === START) throw new Error('the module has a start function');
    const section = new Writer();
    const rewrite = rewritten[id];
    if (rewrite) rewrite(new Reader(content), section, { order, moved, bodies });
    else section.bytes(content);
    out.byte(id);
    out.sized(section);
  }
  return out.all();
}

/** The names of all functions by their numbers, if this section has them. */
function namesOf(section) {
  const from = new Reader(section);
  if (from.text() !== 'name') return undefined;
  const names = [];
  while (from.at < section.length) {
    const [part, content] = [from.byte(), new Reader(from.bytes(from.unsigned()))];
    if (part !== 1) continue;
    for (let left = content.unsigned(); left > 0; left--) {
      names[content.unsigned()] = content.text();
    }
  }
  return names;
}

function types(from, to, { order }) {
  const all = Array.from({ length: from.unsigned() }, () => from.unsigned());
  if (all.length !== order.length) throw new Error('not every function of the module has a name');
  to.unsigned(all.length);
  order.forEach((number) => to.unsigned(all[number]));
}

function exports(from, to, { moved }) {
  let left = from.unsigned();
  to.unsigned(left);
  for (; left > 0; left--) {
    const length = from.unsigned();
    to.unsigned(length);
    to.bytes(from.bytes(length));
    const kind = from.byte();
    to.byte(kind);
    const number = from.unsigned();
    to.unsigned(kind === 0 ? moved[number] : number);
  }
}

/** Functions that are called by address. */
function elements(from, to, { moved }) {
  let left = from.unsigned();
  to.unsigned(left);
  for (; left > 0; left--) {
    if (from.unsigned() !== 0) throw new Error('a table is filled in another way than by numbers');
    to.unsigned(0);
    instructions(from, to, moved, 1);
    const count = from.unsigned();
    to.unsigned(count);
    for (let i = 0; i < count; i++) to.unsigned(moved[from.unsigned()]);
  }
}

function bodiesOf(code) {
  return Array.from({ length: code.unsigned() }, () => code.bytes(code.unsigned()));
}

function code(_, to, { order, moved, bodies }) {
  to.unsigned(bodies.length);
  for (const number of order) {
    const [body, rewritten] = [new Reader(bodies[number]), new Writer()];
    let locals = body.unsigned();
    rewritten.unsigned(locals);
    for (; locals > 0; locals--) {
      rewritten.unsigned(body.unsigned());
      rewritten.byte(body.byte());
    }
    instructions(body, rewritten, moved, Infinity);
    to.sized(rewritten);
  }
}

/** Copies instructions until so many ends of blocks, or all. */
function instructions(from, to, moved, ends) {
  for (let open = ends; open > 0 && from.at < from.length; ) {
    const it = from.byte();
    to.byte(it);
    if (it === 0x0b) open -= 1;
    else if (it >= 0x02 && it <= 0x04) to.signed(from.signed());
    else if (it === 0x0e) {
      const targets = from.unsigned();
      to.unsigned(targets);
      for (let i = 0; i <= targets; i++) to.unsigned(from.unsigned());
    } else if (it === 0x10 || it === 0xd2) to.unsigned(moved[from.unsigned()]);
    else if (it === 0x41) to.signed(from.signed());
    else if (it === 0x42) to.bytes(from.number());
    else if (it === 0x43) to.bytes(from.bytes(4));
    else if (it === 0x44) to.bytes(from.bytes(8));
    else if (it === 0xfc) {
      const more = from.unsigned();
      to.unsigned(more);
      const numbers = more < 8 ? 0 : [2, 1, 2, 1, 2, 1, 2, 1, 1, 1][more - 8];
      copy(from, to, numbers, `0xfc ${more}`);
    } else copy(from, to, numbersOf(it), `0x${it.toString(16)}`);
  }
}

/** How many unsigned numbers follow an instruction. */
function numbersOf(it) {
  if (it === 0x11 || (it >= 0x28 && it <= 0x3e)) return 2;
  if (it === 0x0c || it === 0x0d || it === 0x3f || it === 0x40) return 1;
  if (it >= 0x20 && it <= 0x26) return 1;
  const isPlain = it <= 0x01 || it === 0x05 || it === 0x0f || it === 0x1a || it === 0x1b;
  return isPlain || (it >= 0x45 && it <= 0xc4) ? 0 : undefined;
}

function copy(from, to, numbers, name) {
  if (numbers === undefined) throw new Error(`the module has an instruction ${name}`);
  for (let i = 0; i < numbers; i++) to.unsigned(from.unsigned());
}

class Reader {
  at = 0;
  #all;

  constructor(all) {
    this.#all = all;
  }

  get length() {
    return this.#all.length;
  }

  byte() {
    return this.#all[this.at++];
  }

  bytes(count) {
    return this.#all.subarray(this.at, (this.at += count));
  }

  /** The bytes of a number. */
  number() {
    const begin = this.at;
    while (this.byte() > 0x7f);
    return this.#all.subarray(begin, this.at);
  }

  unsigned() {
    return this.number().reduce((all, byte, at) => all + (byte & 0x7f) * 2 ** (7 * at), 0);
  }

  signed() {
    const bytes = this.number();
    const all = bytes.reduce((all, byte, at) => all + (byte & 0x7f) * 2 ** (7 * at), 0);
    return bytes.at(-1) & 0x40 ? all - 2 ** (7 * bytes.length) : all;
  }

  text() {
    return Buffer.from(this.bytes(this.unsigned())).toString();
  }
}

class Writer {
  #all = Buffer.alloc(1 << 16);
  #length = 0;

  #room(more) {
    if (this.#length + more <= this.#all.length) return;
    this.#all = Buffer.concat([this.#all], 2 * (this.#length + more));
  }

  byte(it) {
    this.#room(1);
    this.#all[this.#length++] = it;
  }

  bytes(bytes) {
    this.#room(bytes.length);
    this.#all.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  unsigned(number) {
    for (; number > 0x7f; number = Math.floor(number / 128)) this.byte((number % 128) | 0x80);
    this.byte(number);
  }

  signed(number) {
    for (; number < -64 || number > 63; number = Math.floor(number / 128)) {
      this.byte((((number % 128) + 128) % 128) | 0x80);
    }
    this.byte(number & 0x7f);
  }

  /** What another holds, with its length before it. */
  sized(other) {
    const all = other.all();
    this.unsigned(all.length);
    this.bytes(all);
  }

  all() {
    return this.#all.subarray(0, this.#length);
  }
}
