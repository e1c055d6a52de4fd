// SPDX-License-Identifier: Apache-2.0
// generate.mjs MODULES FOLDER: makes the dashboards from src/ with the packages of MODULES (a node_modules folder) and
// writes them to FOLDER. dashboards/grafana/generate calls it.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const [modules, folder] = process.argv.slice(2).map((path) => resolve(path));
if (!folder) throw new Error('generate.mjs MODULES FOLDER');
const { buildSync } = createRequire(join(modules, 'x.js'))('esbuild');
const place = mkdtempSync(join(tmpdir(), 'weft-dashboards-'));
try {
  buildSync({
    entryPoints: [join(dirname(fileURLToPath(import.meta.url)), 'src', 'main.ts')],
    outfile: join(place, 'main.mjs'),
    bundle: true,
    platform: 'node',
    format: 'esm',
    nodePaths: [modules],
    logLevel: 'warning',
  });
  process.exitCode = spawnSync(process.execPath, [join(place, 'main.mjs'), folder], { stdio: 'inherit' }).status;
} finally {
  rmSync(place, { recursive: true });
}
