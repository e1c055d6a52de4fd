// SPDX-License-Identifier: Apache-2.0
// Writes the dashboards as JSON: main.js FOLDER

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { congestion } from './congestion.ts';
import { fabric } from './fabric.ts';
import { job } from './job.ts';
import { links } from './links.ts';
import { node } from './node.ts';
import { roce } from './roce.ts';
import { self } from './self.ts';

const folder = process.argv[2];
if (!folder) throw new Error('main.js FOLDER');
mkdirSync(folder, { recursive: true });
for (const made of [fabric(), congestion(), links(), roce(), node(), job(), self()])
  writeFileSync(join(folder, `${made.uid}.json`), JSON.stringify(made, null, 1) + '\n');
