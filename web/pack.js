// Behind `vite build`: puts the module beside the page, forbids the page every other address, and
// makes of all one file that opens from disk.
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { ordered } from './order.js';

const folder = process.env.FIRSTFLIGHT_WEB_OUT ?? 'dist';
const module = process.env.FIRSTFLIGHT_WEB_MODULE;
if (!module) throw new Error('FIRSTFLIGHT_WEB_MODULE: none; `cargo xtask web` sets it');

function policy(scripts, styles, connect) {
  const rules = [
    "default-src 'none'",
    `script-src ${scripts} 'wasm-unsafe-eval' blob:`,
    'worker-src blob:',
    `style-src ${styles}`,
    'img-src data: blob:',
    `connect-src ${connect}`,
    "base-uri 'none'",
    "form-action 'none'",
  ];
  return `<meta http-equiv="Content-Security-Policy" content="${rules.join('; ')}" />`;
}

const hash = (text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
const behind = (html, policy) => html.replace('<meta charset="utf-8" />', (it) => it + policy);

const page = readFileSync(join(folder, 'index.html'), 'utf8');
const packed = gzipSync(ordered(readFileSync(module)), { level: 9 });
writeFileSync(join(folder, 'firstflight.wasm.gz'), packed);
writeFileSync(join(folder, 'index.html'), behind(page, policy("'self'", "'self'", "'self'")));

// The tags that vite writes, and what they name.
const named = (tag, of) => {
  const found = new RegExp(
    `<${tag}[^>]*(?:src|href)="\\./(assets/[^"]+\\.${of})"[^>]*>(?:</script>)?`,
  ).exec(page);
  if (!found) throw new Error(`index.html: no ${tag} of a .${of}`);
  return { text: found[0], content: readFileSync(join(folder, found[1]), 'utf8') };
};
const [script, style] = [named('script', 'js'), named('link', 'css')];
// What would end the script in HTML means as much to JavaScript when escaped.
const code = script.content.replaceAll('</script', '<\\/script').replaceAll('<!--', '<\\!--');
const text = packed.toString('base64');
const data = `<script id="module" type="application/octet-stream">${text}</script>`;
const whole = page
  .replace(script.text, '')
  .replace(style.text, () => `<style>${style.content}</style>`)
  .replace('</body>', () => `${data}\n<script type="module">${code}</script>\n</body>`);
const alone = behind(whole, policy(hash(code), hash(style.content), "'none'"));
writeFileSync(join(folder, '..', 'firstflight.html'), alone);
