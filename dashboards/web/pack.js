// SPDX-License-Identifier: Apache-2.0
// Packs a folder of files into page.bin and page_assets.cpp, which weftd is linked with: pack.js DIST OUTPUT. The assembler looks for
// page.bin in its include path, so that both can be moved together.
import {createHash} from 'node:crypto';
import {readFileSync, readdirSync, writeFileSync} from 'node:fs';
import {join} from 'node:path';
import {gzipSync} from 'node:zlib';

const TYPES = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
  webmanifest: 'application/manifest+json',
};

function filesBelow(folder, path = '') {
  return readdirSync(join(folder, path), {withFileTypes: true})
    .flatMap((entry) => (entry.isDirectory() ? filesBelow(folder, `${path}/${entry.name}`) : [`${path}/${entry.name}`]))
    .sort();
}

const [, , dist, output] = process.argv;
const parts = [];
let length = 0;
function keep(bytes) {
  const place = `std::string_view(weft_page_bytes + ${length}, ${bytes.length})`;
  parts.push(bytes);
  length += bytes.length;
  return place;
}

const entries = filesBelow(dist).map((path) => {
  const type = TYPES[path.split('.').pop()];
  if (!type) throw new Error(`${path}: of what content type is that?`);
  const body = readFileSync(join(dist, path));
  const gzip = gzipSync(body, {level: 9});
  const etag = createHash('sha256').update(body).digest('hex').slice(0, 16);
  const name = path === '/index.html' ? '/' : path;
  const squeezed = gzip.length < body.length ? keep(gzip) : '{}';
  return `      {"${name}", "${type}", ${keep(body)}, ${squeezed}, "\\"${etag}\\"", ${path.startsWith('/assets/')}},`;
});

writeFileSync(join(output, 'page.bin'), Buffer.concat(parts));
writeFileSync(join(output, 'page_assets.cpp'), `// Made by dashboards/web/pack.js.
#include "daemon/programs/weftd/page_assets.hpp"

asm(".section .rodata\\n"
    ".global weft_page_bytes\\n"
    "weft_page_bytes:\\n"
    ".incbin \\"page.bin\\"\\n"
    ".previous\\n");
extern "C" const char weft_page_bytes[];

weft::api::Assets weft::page_assets() {
  static const weft::api::Asset kAssets[] = {
${entries.join('\n')}
  };
  return kAssets;
}
`);
