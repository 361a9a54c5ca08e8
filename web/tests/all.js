// Runs all tests, one file at a time, and ends with `N passed, N failed in N.NNs`.
import { join } from 'node:path';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';

const here = import.meta.dirname;
const files = ['bytes.js', 'page.js'].map((name) => join(here, name));
const begun = performance.now();
const count = { passed: 0, failed: 0 };
const tests = run({ files, concurrency: false, timeout: 600_000 });
const of = (kind) => (it) => {
  // What has a nesting of 0 in a file of its own is a test; a file is none.
  if (it.details?.type !== 'suite' && !files.includes(it.name)) count[kind] += 1;
};
tests.on('test:pass', of('passed')).on('test:fail', of('failed'));
tests.compose(new spec()).pipe(process.stdout);
tests.on('end', () => {
  const seconds = ((performance.now() - begun) / 1000).toFixed(2);
  process.exitCode = count.failed ? 1 : 0;
  setImmediate(() => console.log(`${count.passed} passed, ${count.failed} failed in ${seconds}s`));
});
