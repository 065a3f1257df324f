// Runs the browser tests: the page in a real Chromium against the real app.
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const here = fileURLToPath(new URL('.', import.meta.url));
const tests = readdirSync(here).filter((name) => name.endsWith('.test.mjs')).map((name) => here + name);
const run = spawnSync(process.execPath, ['--test', '--test-concurrency=1', '--test-timeout=600000', ...tests], { stdio: 'inherit' });
process.exit(run.status ?? 1);
