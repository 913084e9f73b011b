// Opens the page of `casefile-analyzer open` in Chromium and prints what it saw as JSON.
//
//   node recording.mjs CHROMIUM ADDRESS SHOTS|- POD WORDS CHANGE
//
// It uses the page as a person would: follows a line of the report into the capture, opens a pod and its log, finds a file,
// searches for WORDS and drags over the chart, and tries CHANGE (`NAME=TEXT`). Checked are: no message on the console but
// those of refused answers, no request elsewhere, nothing of the recording run as markup, axe-core finds nothing.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { chromium } from 'playwright-core';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const [executablePath, address, shots, pod, words, change] = process.argv.slice(2);
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] });
const context = await browser.newContext({ ignoreHTTPSErrors: true, viewport: { width: 1280, height: 800 } });
const page = await context.newPage();
const seen = { messages: [], elsewhere: [], violations: [] };
const own = new URL(address).origin;
page.on('console', (message) => seen.messages.push(message.text()));
page.on('pageerror', (error) => seen.messages.push(String(error)));
page.on('request', (request) => { if (new URL(request.url()).origin !== own) seen.elsewhere.push(request.url()); });

const text = (selector) => page.locator(selector).textContent();
const quiet = () => page.waitForFunction(() => !document.getElementById('note').textContent.endsWith('...'));
const view = (name) => page.locator('#views').getByRole('button', { name, exact: true }).click();

// What axe-core finds in a view, and a picture of it.
async function examine(name) {
  if (shots !== '-') await page.screenshot({ path: `${shots}/recording-${name}.png` });
  await page.evaluate(axe);
  const result = await page.evaluate(() => globalThis.axe.run(document, { iframes: false }));
  seen.violations.push(...result.violations.map((one) => `${name}: ${one.id}: ${one.nodes.map((node) => node.target).join(' ')}`));
}

await page.goto(address);
seen.address = page.url();
await page.waitForFunction(() => document.getElementById('report').src !== '' || document.getElementById('note').textContent.match(/no report|not/));
await quiet();
await report();
await objects();
await files();
await search();
await tryChange();

const frame = () => page.evaluate(() => document.querySelectorAll('img, script:not([src="page.js"]), iframe:not(#report), object, embed').length);
seen.foreign = await frame();
const other = await browser.newContext({ ignoreHTTPSErrors: true });
const stranger = await (await other.newPage()).goto(`${own}/ui/`);
seen.stranger = stranger.status();
console.log(JSON.stringify(seen));
await browser.close();

async function report() {
  if (await page.locator('#report').getAttribute('src') === null) return;
  const inside = page.frameLocator('#report');
  await inside.locator('h1').waitFor();
  seen.report = await inside.locator('h1').textContent();
  // The report's own script runs inside the page as well.
  seen.reportSearch = await inside.locator('#search').count();
  await examine('report');
  const line = inside.locator('a.place[target=_top]').filter({ hasText: /\.(log|out|json):\d+$/ }).first();
  if (await line.count() === 0) return;
  // What is folded can be followed as well: a person unfolds it first.
  await line.evaluate((link) => { for (let at = link; at; at = at.parentElement) if (at.tagName === 'DETAILS') at.open = true; });
  seen.cited = await line.textContent();
  await line.click();
  await page.locator('#lines tr[aria-current]').waitFor();
  seen.citedFile = await text('#file-name');
  seen.citedLine = await page.locator('#lines tr[aria-current] td').first().textContent();
  seen.citedText = await page.locator('#lines tr[aria-current] td').last().textContent();
  await page.goBack();
  await page.locator('#report').waitFor({ state: 'visible' });
}

async function objects() {
  await view('Objects');
  await page.getByRole('button', { name: 'pods', exact: true }).click();
  await page.locator('#table tbody tr').first().waitFor();
  seen.rows = await page.locator('#table tbody tr').count();
  await page.locator('#table').getByRole('button', { name: pod, exact: true }).click();
  await page.locator('#tools button').first().waitFor();
  seen.object = (await text('#text')).slice(0, 200);
  await page.locator('#tools button').first().click();
  await page.waitForFunction((before) => document.getElementById('text').textContent.slice(0, 200) !== before || document.getElementById('note').textContent !== '', seen.object);
  seen.log = (await text('#text')).slice(0, 200);
  await examine('objects');
}

async function files() {
  await view('Files and lines');
  await page.locator('#tree details').first().waitFor();
  seen.folders = await page.locator('#tree > details > summary').allTextContents();
  await page.locator('#tree > details > summary').first().click();
  await page.locator('#tree > details').first().locator('.file, details').first().waitFor();
  await page.locator('#file-filter').fill('pods');
  seen.foundFiles = await page.locator('#tree .file').count();
  await page.locator('#tree .file').first().click();
  await page.waitForFunction(() => document.getElementById('file-name').textContent.includes('pods'));
  await quiet();
  await page.locator('#lines tr').first().waitFor();
  seen.fileLines = await page.locator('#lines tr').count();
}

async function search() {
  await page.locator('#query').fill(words);
  await page.locator('#query').press('Enter');
  await page.waitForFunction(() => document.getElementById('found-objects').textContent.match(/objects? holds?/));
  await quiet();
  seen.found = await page.locator('#lines tr').count();
  seen.marked = await page.locator('#lines mark').count();
  await examine('lines');
  const chart = await page.locator('#chart').boundingBox();
  if (chart === null) return;
  // The second half of the time: the first lines go.
  seen.first = await page.locator('#lines tr').first().textContent();
  await page.mouse.move(chart.x + chart.width / 2, chart.y + 20);
  await page.mouse.down();
  await page.mouse.move(chart.x + chart.width - 2, chart.y + 20, { steps: 4 });
  await page.mouse.up();
  await page.waitForFunction(() => document.getElementById('since').value !== '' && document.getElementById('until').value !== '');
  await quiet();
  await page.waitForFunction(() => document.getElementById('found-objects').textContent.match(/objects? holds?/));
  seen.since = await page.locator('#since').inputValue();
  seen.brushed = await page.locator('#lines tr').count();
  seen.brushedTimes = await page.locator('#lines tr td:nth-child(2)').allTextContents();
}

async function tryChange() {
  await view('What if');
  await quiet();
  const split = change.indexOf('=');
  const done = () => page.waitForFunction(() => !document.getElementById('change-state').textContent.match(/Trying|Nothing/));
  await page.locator('#change-name').fill(change.slice(0, split));
  await page.locator('#change-text').fill(change.slice(split + 1));
  await page.getByRole('button', { name: 'Try this change' }).click();
  await done();
  seen.change = await text('#change-result');
  seen.changeFiles = await page.locator('#change-files summary').allTextContents();
  await examine('change');
  await page.locator('#change-text').fill('no: change: at all');
  await page.getByRole('button', { name: 'Try this change' }).click();
  await page.waitForFunction(() => document.getElementById('change-state').textContent.includes('cannot'));
  seen.refused = await text('#change-result');
}
