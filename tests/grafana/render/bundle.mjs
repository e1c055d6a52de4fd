// SPDX-License-Identifier: Apache-2.0
// bundle.mjs MODULES FOLDER: page.tsx with all that it needs as FOLDER/page.js, page.css and page.html.

import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const [modules, folder] = process.argv.slice(2).map((path) => resolve(path));
const { build } = createRequire(join(modules, 'x.js'))('esbuild');
// What @grafana/ui can show besides time series, and weighs most: an editor of code and maps.
const unused = /^(monaco-editor|@monaco-editor\/react|ol)(\/|$)/;
await build({
  entryPoints: [join(dirname(fileURLToPath(import.meta.url)), 'page.tsx')],
  outfile: join(folder, 'page.js'),
  bundle: true,
  format: 'iife',
  platform: 'browser',
  nodePaths: [modules],
  jsx: 'automatic',
  define: { 'process.env.NODE_ENV': '"production"', global: 'window' },
  loader: { '.svg': 'dataurl', '.png': 'dataurl', '.ttf': 'dataurl', '.woff': 'dataurl', '.woff2': 'dataurl' },
  logLevel: 'error',
  plugins: [{
    name: 'unused',
    setup(builder) {
      builder.onResolve({ filter: unused }, (args) => ({ path: args.path, namespace: 'unused' }));
      builder.onLoad({ filter: /.*/, namespace: 'unused' }, () => ({ contents: 'module.exports = {};', loader: 'js' }));
    },
  }],
});
writeFileSync(join(folder, 'page.html'), '<!doctype html><meta charset="utf-8"><title>Weft</title><link rel="stylesheet" href="page.css"><div id="page"></div><script src="page.js"></script>\n');
