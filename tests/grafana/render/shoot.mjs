// SPDX-License-Identifier: Apache-2.0
// shoot.mjs MODULES PAGE: opens PAGE in chromium for each dashboard of the JSON on its input ({prometheus, range, step, folder,
// dashboards: [{uid, title, panels}]}), writes FOLDER/UID.png, and prints for each what was drawn.

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

const [modules, page] = process.argv.slice(2).map((path) => resolve(path));
const { chromium } = createRequire(join(modules, 'x.js'))('playwright-core');
const asked = JSON.parse(readFileSync(0, 'utf8'));
const browser = await chromium.launch({
  executablePath: '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking'],
});
const told = {};
try {
  for (const dashboard of asked.dashboards) {
    const tab = await browser.newPage({ viewport: { width: 1232, height: 900 } });
    const errors = [];
    tab.on('pageerror', (error) => errors.push(String(error)));
    await tab.goto(pathToFileURL(page).href);
    await tab.evaluate(([one, prometheus, range, step]) => window.draw(one, prometheus, range, step), [dashboard, asked.prometheus, asked.range, asked.step]);
    await tab.waitForFunction((count) => document.querySelectorAll('[data-panel]').length === count, dashboard.panels.length, { timeout: 20000 });
    // uPlot draws in a frame of its own.
    await tab.evaluate(() => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 300))));
    const panels = await tab.evaluate(() =>
      [...document.querySelectorAll('[data-panel]')].map((panel) => {
        const canvas = panel.querySelector('.uplot canvas');
        let colours = 0;
        if (canvas) {
          // Lines have colour; axes and grid are grey.
          const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
          for (let at = 0; at < data.length; at += 4)
            if (data[at + 3] > 60 && Math.max(data[at], data[at + 1], data[at + 2]) - Math.min(data[at], data[at + 1], data[at + 2]) > 40) ++colours;
        }
        return { title: panel.dataset.panel, coloured: colours, text: panel.innerText.slice(0, 200) };
      })
    );
    await tab.screenshot({ path: join(asked.folder, `${dashboard.uid}.png`), fullPage: true });
    await tab.close();
    told[dashboard.uid] = { panels, errors };
  }
} finally {
  await browser.close();
}
console.log(JSON.stringify(told));
