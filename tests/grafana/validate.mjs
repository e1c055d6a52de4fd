// SPDX-License-Identifier: Apache-2.0
// validate.mjs MODULES FILE...: checks dashboards against the types that Grafana publishes; one line for each thing that is not
// as they say, and then it ends with 1. The types' own defaults count as given: Grafana fills them in.

import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const [modules, ...files] = process.argv.slice(2).map((path) => resolve(path));
const require = createRequire(join(modules, 'x.js'));
const { createGenerator } = require('ts-json-schema-generator');
const Ajv = require('ajv');

/** A check for each type that schema.ts exports. */
function checksOfTypes() {
  const place = mkdtempSync(join(tmpdir(), 'weft-schema-'));
  try {
    symlinkSync(modules, join(place, 'node_modules'));
    const text = readFileSync(join(dirname(fileURLToPath(import.meta.url)), 'schema.ts'), 'utf8');
    writeFileSync(join(place, 'schema.ts'), text);
    writeFileSync(join(place, 'tsconfig.json'), JSON.stringify({ compilerOptions: { moduleResolution: 'bundler', module: 'esnext', target: 'es2022', skipLibCheck: true, strict: true } }));
    const generator = createGenerator({ path: join(place, 'schema.ts'), tsconfig: join(place, 'tsconfig.json'), type: '*', skipTypeCheck: true, additionalProperties: false });
    const names = [...text.matchAll(/^export type (\w+)/gm)].map((match) => match[1]);
    return new Map(names.map((name) => [name, new Ajv({ allErrors: true, strict: false }).compile(generator.createSchema(name))]));
  } finally {
    rmSync(place, { recursive: true });
  }
}

const checks = checksOfTypes();

let wrong = 0;
function check(name, value, where) {
  const validate = checks.get(name);
  if (!validate) {
    console.log(`${where}: nothing is known of ${name}`);
    ++wrong;
  } else if (!validate(value)) {
    for (const error of validate.errors.slice(0, 5)) console.log(`${where}: ${error.instancePath} ${error.message} ${JSON.stringify(error.params)}`);
    wrong += validate.errors.length;
  }
}

/** Without the query, which is checked as one of Prometheus and not as one of Grafana's own annotations, and without what
 * the Prometheus data source keeps beside it, which @grafana/schema does not name. */
const asPublished = ({ target, titleFormat, textFormat, tagKeys, ...rest }) => rest;

let checked = 0;
for (const file of files) {
  const dashboard = JSON.parse(readFileSync(file, 'utf8'));
  check('dashboard', { ...dashboard, annotations: { list: dashboard.annotations.list.map(asPublished) } }, basename(file));
  for (const annotation of dashboard.annotations.list) if (annotation.target) check('query', annotation.target, `${basename(file)}: ${annotation.name}`);
  for (const panel of dashboard.panels) {
    if (panel.type === 'row') continue;
    const type = panel.type.replace('-', '');
    const where = `${basename(file)}: ${panel.title}`;
    check(`${type}Options`, panel.options ?? {}, `${where}: options`);
    if (checks.has(`${type}Fields`)) check(`${type}Fields`, panel.fieldConfig?.defaults?.custom ?? {}, `${where}: fields`);
    for (const query of panel.targets) check('query', query, `${where}: query ${query.refId}`);
    ++checked;
  }
}
console.log(`${files.length} dashboards, ${checked} panels, ${wrong} faults`);
process.exitCode = wrong || !checked ? 1 : 0;
