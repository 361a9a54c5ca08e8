// The page as a reader uses it: drags, types, keys, addresses, files, both themes, every width.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import {
  copyFileSync,
  createReadStream,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { FOLDER, ONE_FILE, open, visit } from './browser.js';

const root = join(import.meta.dirname, '..', '..');
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

let at;
before(async () => (at = await open()));
after(() => at?.close());

async function drawn(address, settings) {
  const it = await visit(at.browser, ONE_FILE + address, settings);
  await it.page.waitForSelector('.took');
  return it;
}

test('it draws, is dragged, and stands in the address; it asks nobody for anything', async () => {
  const { page, asked, wrong } = await drawn('');
  const words = () => page.locator('.sentence').first().innerText();
  const before = await page.locator('[aria-labelledby=says]').innerText();
  assert.match(await words(), /^hystart-pp|^cubic/);
  await page.locator('#slide-buffer').focus();
  for (let i = 0; i < 4; i++) await page.keyboard.press('ArrowRight');
  await page.waitForFunction(() => location.hash.includes('buffer=2.5bdp'));
  await page.waitForFunction(
    (it) => document.querySelector('[aria-labelledby=says]').innerText !== it,
    before,
  );
  const now = await page.locator('[aria-labelledby=says]').innerText();
  assert.match(await page.locator('pre').innerText(), /--buffer 2\.5bdp/);
  // Who opens the address sees as much.
  const other = await drawn(new URL(page.url()).hash);
  const timeless = (text) => text.replace(/Simulated and drawn.*/, '');
  assert.equal(
    timeless(await other.page.locator('[aria-labelledby=says]').innerText()),
    timeless(now),
  );
  assert.deepEqual(wrong, []);
  assert.ok(
    asked.every((it) => /^(file|blob|data):/.test(it)),
    asked.join(' '),
  );
  await page.close();
  await other.page.close();
});

test('marks are told by pointer and key', async () => {
  const { page } = await drawn('#control=cubic');
  await page
    .getByRole('button', { name: /cubic, lost/ })
    .first()
    .focus();
  assert.match(
    await page.locator('.event').innerText(),
    /packets of cubic are lost.*buffer is full/,
  );
  await page.getByRole('button', { name: /cubic, exit/ }).focus();
  const text = await page.locator('.event').innerText();
  assert.match(text, /leaves start-up because it heard of a loss/);
  assert.match(text, /The first packet was lost [0-9.]+ ms before/);
  await page.close();
});

test('packets and ACKs are shown at a moment, and in the end as the table says', async () => {
  const { page, wrong } = await drawn('#control=cubic&duration=1s&slow=0.1');
  const slow = page.getByRole('group', { name: 'Packet by packet' });
  const words = () => slow.locator('.words').innerText();
  await slow.waitFor();
  const counts = /cubic: [\d,]+ packets? on the forward path, [\d,]+ in the queue, [\d,]+ ACKs? on/;
  assert.match(await words(), counts);
  const slider = slow.getByRole('slider');
  const before = await words();
  await slider.focus();
  for (let i = 0; i < 9; i++) await page.keyboard.press('ArrowRight');
  assert.notEqual(await words(), before);
  assert.match(await slider.getAttribute('aria-valuetext'), /^109 ms. cubic: /);
  await page.waitForFunction(() => location.hash.includes('slow=0.109'));
  await page.keyboard.press(' ');
  await slow.getByRole('button', { name: 'Pause' }).waitFor();
  await page.waitForFunction(() => !document.querySelector('.slow output').value.startsWith('109'));
  await page.keyboard.press(' ');
  await slow.getByRole('button', { name: 'Play' }).waitFor();
  await page.keyboard.press('End');
  const lost = await page.getByRole('row', { name: /^Packets lost/ }).getByRole('cell').innerText();
  assert.ok(Number(lost) > 10);
  assert.match(await words(), new RegExp(`, ${lost} lost so far`));
  assert.deepEqual(wrong, []);
  await page.close();
});

test('every step of every tour shows its packets', async () => {
  const { page, wrong } = await drawn('');
  const tours = page.getByRole('region', { name: 'Short tours' });
  const titles = await tours.getByRole('button').allInnerTexts();
  assert.equal(titles.length, 4);
  for (const title of titles) {
    await tours.getByRole('button', { name: title }).click();
    for (let step = 1; ; step++) {
      await tours.getByText(`${step} of `).waitFor();
      await page.getByRole('group', { name: 'Packet by packet' }).waitFor();
      assert.equal(await page.getByRole('alert').count(), 0);
      if (!(await tours.getByRole('button', { name: 'Next' }).count())) break;
      await tours.getByRole('button', { name: 'Next' }).click();
    }
    await tours.getByRole('button', { name: 'Leave' }).click();
  }
  // The step is link enough.
  await page.evaluate(() => (location.hash = '#tour=jitter-2'));
  await page.locator('.legend').filter({ hasText: /^hystart ?cubic$/ }).waitFor();
  await page.waitForFunction(() => document.querySelector('.slow output')?.value);
  assert.deepEqual(wrong, []);
  await page.close();
});

test('a notebook shows one plot, and hears what is dragged in it', async () => {
  const { page, wrong } = await visit(at.browser, 'about:blank');
  const widget = readFileSync(join(root, 'python/firstflight/widget.py'), 'utf8');
  const [, script] = /^FRAME = """\n(.*?)^"""/ms.exec(widget);
  const text = readFileSync(new URL(ONE_FILE), 'utf8');
  await page.evaluate(
    async ([script, text]) => {
      const address = URL.createObjectURL(new Blob([script], { type: 'text/javascript' }));
      const { default: widget } = await import(address);
      const held = { page: text, height: 700, shown: 'control=cubic&rate=20Mbps&plot=', says: {} };
      const model = {
        get: (name) => held[name],
        set: (name, value) => (held[name] = value),
        save_changes: () => (window.saved = { ...held, page: '' }),
        on: (_, listener) => (window.change = listener),
        off: () => {},
      };
      window.show = (shown) => (model.set('shown', shown), window.change());
      widget.render({ model, el: document.body });
    },
    [script, text],
  );
  const plot = page.frameLocator('iframe');
  await plot.locator('figure').waitFor();
  assert.equal(await plot.locator('header, aside').count(), 0);
  await plot.getByRole('slider', { name: 'Rate' }).focus();
  await page.keyboard.press('ArrowRight');
  await page.waitForFunction(() => window.saved?.says.rate === '25Mbps');
  const { says, shown } = await page.evaluate(() => window.saved);
  assert.deepEqual([says.controls, says.rtt], [['cubic'], '40ms']);
  assert.match(shown, /plot=.*|rate=25Mbps/);
  await page.evaluate(() => window.show('control=scout&plot='));
  await plot.locator('.legend').filter({ hasText: 'scout' }).waitFor();
  assert.deepEqual(wrong, []);
  await page.close();
});

test('a page of others shows one plot in the place of a picture', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'firstflight-'));
  copyFileSync(new URL(ONE_FILE), join(folder, 'simulate.html'));
  copyFileSync(join(root, 'docs/js/live.js'), join(folder, 'live.js'));
  const place = 'class="live" data-shown="control=scout&amp;jitter=2ms&amp;plot="';
  const picture = '<img alt="A plot" src="data:," />';
  const text = `<div ${place}>${picture}</div><script src="live.js"></script>`;
  writeFileSync(join(folder, 'page.html'), text);
  const { page, wrong } = await visit(at.browser, pathToFileURL(join(folder, 'page.html')).href);
  const plot = page.frameLocator('iframe[title="A plot"]');
  await plot.locator('.legend').filter({ hasText: 'scout' }).waitFor();
  const sliders = await plot.getByRole('slider').evaluateAll((all) => all.map((it) => it.id));
  assert.deepEqual(sliders, ['slide-rate', 'slide-rtt', 'slide-buffer', 'slide-jitter']);
  assert.deepEqual(wrong, []);
  await page.close();
  rmSync(folder, { recursive: true });
});

test('files are handed out', async () => {
  const { page } = await drawn('');
  for (const [kind, begin] of [
    ['SVG', '<svg '],
    ['CSV', 'panel,unit,control'],
    ['PNG', '\x89PNG'],
  ]) {
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: kind }).click(),
    ]);
    const bytes = readFileSync(await file.path()).toString('latin1');
    assert.ok(bytes.startsWith(begin), `${kind}: ${bytes.slice(0, 40)}`);
  }
  await page.close();
});

test('a hostile address ends in a message', async () => {
  const markup = encodeURIComponent('<img src=x onerror=alert(1)>');
  const { page, wrong } = await visit(at.browser, `${ONE_FILE}#control=${markup}`);
  const message = page.getByRole('alert');
  await message.waitFor();
  for (const [address, text] of [
    [`#control=${markup}`, /accepted:/],
    [`#rate=${markup}`, /--rate/],
    ['#rate=-1Mbps', /--rate/],
    ['#rtt=1e99s', /--rtt/],
    ['#slow=-1e99&rate=0', /--rate/],
    ['#duration=9999999999999s', /--duration/],
    [`#buffer=${'9'.repeat(3000)}bdp`, /--buffer/],
    ['#rate=100Gbps&duration=11h&rtt=10ms', /takes longer than/],
  ]) {
    await page.evaluate((it) => (location.hash = it), address);
    await message.filter({ hasText: text }).waitFor({ timeout: 30_000 });
    assert.equal(await page.locator('img').count(), 0);
  }
  const odd = [
    `#${'control=cubic&'.repeat(9)}`,
    '#view=no&beside=<b>&tour=x-9',
    `#${'a=&'.repeat(5000)}`,
    '#%',
    '#control=',
  ];
  for (const address of odd) {
    await page.evaluate((it) => (location.hash = it), address);
    await page.waitForSelector('main .view');
  }
  assert.deepEqual(wrong, []);
  await page.close();
});

test('a record is drawn with the references over it, and what is none is refused', async () => {
  const { page, wrong } = await visit(at.browser, `${ONE_FILE}#view=record&rate=10Mbps&rtt=30ms`);
  await page.setInputFiles('input[type=file]', join(root, 'crates/fuzz/seeds/qlog/quic-go.sqlog'));
  await page.getByText('quic-go.sqlog').first().waitFor();
  await page.locator('figure').waitFor();
  await page.getByRole('button', { name: /quic-go.sqlog, lost/ }).focus();
  assert.match(await page.locator('.event').innerText(), /2 packets of quic-go.* are found lost/);
  assert.match(await page.locator('.words').innerText(), /2 packets of it were lost/);
  await page.getByLabel('I know its path').check();
  await page.getByRole('table').waitFor();
  assert.match(await page.getByRole('table').innerText(), /this log[\s\S]*hystart/);
  await page.setInputFiles('input[type=file]', join(root, 'LICENSE-MIT'));
  await page.getByRole('alert').waitFor();
  assert.match(await page.getByRole('alert').innerText(), /LICENSE-MIT.*accepted/s);
  assert.deepEqual(wrong, []);
  await page.close();
});

test('scenarios are found by name, changed and judged', async () => {
  const { page, wrong } = await visit(at.browser, `${ONE_FILE}#view=catalogue&scenario=A5`);
  await page.locator('figure').waitFor();
  await page.getByRole('button', { name: 'on this scenario' }).click();
  await page.locator('dl').waitFor({ timeout: 120_000 });
  assert.match(await page.locator('dl').innerText(), /R\d .* (holds|does not hold)/);
  await page
    .getByLabel('The file, to change and run')
    .fill('controls = ["cubic"]\n[path]\nrat = "1Mbps"');
  await page.getByRole('alert').waitFor();
  assert.match(await page.getByRole('alert').innerText(), /A5-first-cut\.toml:3: .*unknown key/);
  assert.deepEqual(wrong, []);
  await page.close();
});

test('every view is for all eyes and hands, in both themes and at every width', async () => {
  for (const scheme of ['light', 'dark']) {
    const { page } = await drawn('', { scheme });
    await page.evaluate(axe);
    for (const view of ['compare', 'record', 'catalogue', 'advise']) {
      await page.setViewportSize({ width: 1400, height: 900 });
      await page.evaluate((it) => (location.hash = `#view=${it}`), view);
      const sign = { compare: '.took', record: '.drop', catalogue: 'textarea', advise: 'form' };
      await page.waitForSelector(sign[view]);
      if (view === 'compare' || view === 'catalogue') await page.waitForSelector('figure');
      for (const width of [360, 900, 1400, 3840]) {
        await page.setViewportSize({ width, height: 900 });
        const beyond = () => document.documentElement.scrollWidth - innerWidth;
        const fits = () => document.documentElement.scrollWidth <= innerWidth;
        await page.waitForFunction(fits, null, { timeout: 3000 }).catch(() => {});
        assert.ok((await page.evaluate(beyond)) <= 0, `${view} is wider than ${width}`);
        // Of the arrangement for phones, and of the other.
        if (![360, 1400].includes(width)) continue;
        const { violations } = await page.evaluate(() => window.axe.run());
        const serious = violations.filter((it) => ['serious', 'critical'].includes(it.impact));
        const found = serious.map((it) => [it.id, it.nodes.map((node) => node.html)]);
        assert.deepEqual(found, [], `${view}, ${scheme}, ${width}`);
      }
    }
    await page.close();
  }
});

test('on a phone the curves stay in sight while one drags, and hide no focus', async () => {
  const { page, wrong } = await drawn('#buffer=2bdp', { width: 360, height: 740 });
  const place = (selector) =>
    page.evaluate((it) => document.querySelector(it).getBoundingClientRect().toJSON(), selector);
  for (const key of ['duration', 'rate', 'buffer']) {
    const slider = `#slide-${key}`;
    await page.locator(slider).focus();
    await page.keyboard.press('ArrowLeft');
    const [curves, at] = [await place('.curves'), await place(slider)];
    assert.ok(curves.top >= 0 && curves.bottom < 0.6 * 740, `${key}: ${JSON.stringify(curves)}`);
    assert.ok(at.top >= curves.bottom && at.bottom <= 740, `${key}: ${JSON.stringify(at)}`);
  }
  await page.waitForFunction(() => location.hash.includes('buffer=1.5bdp'));
  // What is read covers them.
  await page.getByRole('button', { name: 'Python' }).focus();
  await page.keyboard.press('Enter');
  const box = await place('[aria-labelledby=same] pre');
  const covered = await page.evaluate(
    ({ x, y }) => document.elementFromPoint(x + 9, y + 9)?.closest('pre') !== null,
    box,
  );
  assert.ok(covered, 'the words are on top');
  assert.deepEqual(wrong, []);
  await page.close();
});

test('the folder works from a server', async () => {
  const kinds = {
    html: 'text/html',
    js: 'text/javascript',
    css: 'text/css',
    gz: 'application/gzip',
  };
  const server = createServer((request, answer) => {
    const name = request.url === '/' ? 'index.html' : request.url.slice(1);
    answer.setHeader('content-type', kinds[name.split('.').at(-1)] ?? 'text/plain');
    createReadStream(join(FOLDER, name))
      .on('error', () => answer.writeHead(404).end())
      .pipe(answer);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = `http://127.0.0.1:${server.address().port}/`;
  const { page, asked, wrong } = await visit(at.browser, address);
  await page.waitForSelector('.took');
  const licences = await (await fetch(`${address}licences.md`)).text();
  for (const inside of ['uplot', 'toml', 'Permission is hereby granted']) {
    assert.ok(licences.includes(inside), inside);
  }
  assert.deepEqual(wrong, []);
  assert.ok(
    asked.every((it) => it.startsWith(address) || /^(blob:|data:)/.test(it)),
    asked.join(' '),
  );
  await page.close();
  server.closeAllConnections();
  server.close();
});
