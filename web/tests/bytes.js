// What the command says of every scenario of the repository, the page says byte for byte.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';
import { ask, ONE_FILE, open, visit } from './browser.js';

const root = join(import.meta.dirname, '..', '..');
const run = promisify(execFile);

async function command(...words) {
  const options = { cwd: root, maxBuffer: 1 << 28, encoding: 'buffer' };
  // What a scenario expects may not hold; its results are there all the same.
  const done = await run(process.env.FIRSTFLIGHT, words, options).catch((it) => it);
  return done.stdout.toString();
}

const named = (folder, kind) =>
  readdirSync(join(root, folder))
    .filter((it) => it.endsWith(kind))
    .map((it) => `${folder}/${it}`);
const SCENARIOS = [...named('scenarios', '.toml'), ...named('scenarios/catalogue', '.toml')];
const RECORDS = [
  ...named('crates/qlog/tests/logs', 'qlog'),
  ...named('crates/fuzz/seeds/record', 'cubic.pcap'),
  ...named('crates/fuzz/seeds/record', '.pcapng'),
  ...named('crates/fuzz/seeds/record', 'ss.txt.gz'),
  ...named('crates/fuzz/seeds/record', 'ss.txt.zst'),
  ...named('crates/fuzz/seeds/record', 'iperf3.json'),
];
/** The files that scenarios name, by their paths from where those lie. */
const files = Object.fromEntries(
  readdirSync(join(root, 'scenarios/traces')).map((it) => [
    `scenarios/traces/${it}`,
    readFileSync(join(root, 'scenarios/traces', it), 'latin1'),
  ]),
);

/** Without the time that a run took, which a page cannot tell. */
const timeless = (text) =>
  text.replace(/^( *"(?:wall_s|delivered_packets_per_s)": )[^,\n]*/gm, '$1-');

let at;
let page;
before(async () => {
  at = await open();
  ({ page } = await visit(at.browser, ONE_FILE));
  await page.waitForFunction(() => window.firstflight);
});
after(() => at?.close());

test('every scenario gives the command’s results', async () => {
  assert.ok(SCENARIOS.length > 80, `${SCENARIOS.length} scenarios`);
  for (const name of SCENARIOS) {
    const ours = ask(page, { ask: 'run', name, files }, readFileSync(join(root, name)));
    const theirs = await command('run', name, '--json');
    assert.equal(timeless(await ours), timeless(theirs), name);
  }
});

test('curves of every scenario are the command’s', async () => {
  for (const name of named('scenarios', '.toml')) {
    // Of one seed: the others differ in nothing that would be tested here.
    const text = readFileSync(join(root, name), 'utf8').replace(/^runs = .*$/m, '');
    const folder = mkdtempSync(join(tmpdir(), 'firstflight-'));
    const words = ['run', name, '--runs', '1', '--trace', folder, '--json'];
    const { runs } = JSON.parse(await command(...words));
    // As many samples as the command takes of so many flows.
    const flows = runs.reduce((all, run) => all + run.flows.length, 0);
    const samples = Math.min(2000, Math.max(50, Math.floor(400_000 / flows)));
    const question = { ask: 'traces', name, files, samples };
    const ours = new Set(JSON.parse(await ask(page, question, Buffer.from(text))));
    const theirs = readdirSync(folder).filter((it) => it.endsWith('.csv'));
    const texts = theirs.map((it) => readFileSync(join(folder, it), 'utf8'));
    rmSync(folder, { recursive: true });
    assert.ok(texts.length > 1, name);
    theirs.forEach((it, place) => assert.ok(ours.has(texts[place]), `${it} of ${name}`));
  }
});

test('records, verdicts and advice are the command’s', async () => {
  for (const name of RECORDS) {
    const ours = await ask(page, { ask: 'record', name }, readFileSync(join(root, name)));
    assert.equal(ours, await command('show', name, '--json'), name);
  }
  const judged = await ask(page, {
    ask: 'judge',
    control: 'astart',
    only: ['A1', 'E3a'],
    seeds: null,
  });
  assert.equal(judged, await command('judge', 'astart', '--only', 'A1,E3a', '--json'));
  for (const stack of ['linux', 'quic']) {
    const path = [
      ['--rate', '5Mbps'],
      ['--rtt', '40ms'],
      ['--size', '50KB'],
    ];
    const advice = await ask(page, { ask: 'advise', stack, shared: false, path });
    const theirs = await command('advise', ...path.flat(), '--on', stack, '--json');
    assert.equal(advice, theirs);
  }
});
