// A page of the browser that the machine has, without a network.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';

const built = process.env.FIRSTFLIGHT_WEB;
if (!built) throw new Error('FIRSTFLIGHT_WEB: none; `cargo xtask web --test` sets it');
export const ONE_FILE = pathToFileURL(join(built, 'firstflight.html')).href;
export const FOLDER = join(built, 'folder');

const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-sync',
  '--disable-background-networking',
  '--disable-component-update',
];

/** Opens a browser of its own; whoever asks closes it. */
export async function open() {
  const profile = mkdtempSync(join(tmpdir(), 'firstflight-'));
  const browser = await chromium.launchPersistentContext(profile, {
    executablePath: process.env.CHROMIUM,
    args: FLAGS,
    viewport: { width: 1400, height: 900 },
  });
  const close = async () => {
    await browser.close();
    rmSync(profile, { recursive: true, force: true });
  };
  return { browser, close };
}

/** A page at an address, which says what it asks of others and what goes wrong in it. */
export async function visit(browser, address, settings = {}) {
  const page = await browser.newPage();
  if (settings.scheme) await page.emulateMedia({ colorScheme: settings.scheme });
  const { width, height = 900 } = settings;
  if (width) await page.setViewportSize({ width, height });
  const asked = [];
  const wrong = [];
  page.on('request', (it) => asked.push(it.url()));
  page.on('pageerror', (it) => wrong.push(it.message));
  page.on('console', (it) => it.type() === 'error' && wrong.push(it.text()));
  await page.goto(address);
  return { page, asked, wrong };
}

/** Asks the simulator of a page: the text of its answer. */
export function ask(page, question, file = Buffer.alloc(0)) {
  return page.evaluate(
    ([question, file]) => {
      const bytes = Uint8Array.from(atob(file), (c) => c.charCodeAt(0));
      return window.firstflight(question, bytes);
    },
    [question, file.toString('base64')],
  );
}
