// SPDX-License-Identifier: Apache-2.0
// A browser that a test leads by lines of JSON: {"do": "click", "at": "text=Plans"} in, {"value": …} or {"error": "…"} out.
// Whatever a page does that no page should is kept: see "problems".
import {createRequire} from 'node:module';
import {readFileSync} from 'node:fs';
import {createInterface} from 'node:readline';
import {chromium} from 'playwright-core';

const require = createRequire(import.meta.url);
const axe = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf-8');
const PATIENCE = 120_000;

const browser = await chromium.launch({
  executablePath: process.argv[2],
  args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking'],
});
let context;
let page;
let problems = [];
let requests = [];

const at = (what) => page.locator(what).first();

/** What weftd did not say: nothing for ever (`hold`), this `json`, or its answer with one text for another. */
async function answerInstead(route, {hold, json, from, to}) {
  if (hold) return;
  if (json) return route.fulfill({json});
  const response = await route.fetch();
  const body = (await response.text()).replaceAll(from, to);
  return route.fulfill({status: response.status(), contentType: response.headers()['content-type'], body});
}

const verbs = {
  /** A new window: nothing is left of the one before. Its clock is `ahead` seconds ahead. `answers`: to paths that match `path`, see answerInstead(). */
  async open({url, width = 1440, height = 900, dark = false, touch = false, storage = {}, ahead = 0, answers = []}) {
    await context?.close();
    problems = [];
    requests = [];
    context = await browser.newContext({
      viewport: {width, height}, colorScheme: dark ? 'dark' : 'light', hasTouch: touch, isMobile: touch, deviceScaleFactor: touch ? 2 : 1,
    });
    context.setDefaultTimeout(PATIENCE);
    page = await context.newPage();
    const origin = new URL(url).origin;
    page.on('request', (request) => {
      requests.push({url: request.url(), at: Date.now()});
      if (new URL(request.url()).origin !== origin) problems.push(`asks ${request.url()}`);
    });
    page.on('console', (message) => {
      if (message.type() === 'error' || message.type() === 'warning') problems.push(`console: ${message.text()} (${message.location().url})`);
    });
    page.on('pageerror', (error) => problems.push(`error: ${error.stack ?? error}`));
    await page.addInitScript((entries) => Object.entries(entries).forEach(([key, value]) => sessionStorage.setItem(key, value)), storage);
    for (const answer of answers) await page.route(({pathname}) => new RegExp(answer.path).test(pathname), (route) => answerInstead(route, answer));
    if (ahead) await page.addInitScript((by) => { const right = Date.now; Date.now = () => right() + by; }, ahead * 1000);
    await page.goto(url);
  },
  click: ({at: what}) => at(what).click(),
  tap: ({at: what}) => at(what).tap(),
  choose: ({at: what, option}) => at(what).selectOption(option),
  fill: ({at: what, text}) => at(what).fill(text),
  press: ({key}) => page.keyboard.press(key),
  type: ({text}) => page.keyboard.type(text),
  focus: ({at: what}) => at(what).focus(),
  wait: ({at: what, state = 'visible', timeout = PATIENCE}) => at(what).waitFor({state, timeout}),
  text: ({at: what}) => at(what).innerText(),
  count: ({at: what}) => page.locator(what).count(),
  evaluate: ({script}) => page.evaluate(script),
  mouse: ({x, y, click}) => (click ? page.mouse.click(x, y) : page.mouse.move(x, y)),
  screenshot: ({path, whole = false}) => page.screenshot({path, fullPage: whole}),
  /** The name that the page gives the file. */
  async download({at: what, path}) {
    const [file] = await Promise.all([page.waitForEvent('download'), at(what).click()]);
    await file.saveAs(path);
    return file.suggestedFilename();
  },
  media: ({media}) => page.emulateMedia({media}),
  async problems() {
    const seen = problems;
    problems = [];
    return seen;
  },
  requests: () => requests,
  forget() {
    problems = [];
    requests = [];
  },
  /** What axe finds against WCAG 2.1 A and AA, in a line each. Run outside of the page's policy, which allows nothing inline. */
  async accessibility() {
    await page.evaluate(`(() => { ${axe} })()`);
    const {violations} = await page.evaluate(() => window.axe.run(document, {runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa']}));
    return violations.map((each) => `${each.id}: ${each.help}: ${each.nodes.map((node) => `${node.target} ${node.any[0]?.message ?? ''}`).slice(0, 3).join('; ')}`);
  },
};

for await (const line of createInterface({input: process.stdin})) {
  const {do: verb, ...given} = JSON.parse(line);
  let answer;
  try {
    answer = {value: (await verbs[verb](given)) ?? null};
  } catch (error) {
    answer = {error: String(error.message ?? error)};
  }
  process.stdout.write(`${JSON.stringify(answer)}\n`);
}
await browser.close();
