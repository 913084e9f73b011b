// Opens the page of `casefile-analyzer serve --ui` in Chromium and prints what it saw as JSON.
//
//   node recording.mjs CHROMIUM ADDRESS SHOT|- POD
//
// It clicks as a person would: a kind, a pod, its log, a search. Checked are: no message on the console but those of refused
// answers, no request elsewhere, nothing of the recording run as markup, axe-core finds nothing.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { chromium } from 'playwright-core';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const [executablePath, address, shot, pod] = process.argv.slice(2);
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] });
const context = await browser.newContext({ ignoreHTTPSErrors: true, viewport: { width: 1280, height: 800 } });
const page = await context.newPage();
const seen = { messages: [], elsewhere: [], violations: [] };
const own = new URL(address).origin;
page.on('console', (message) => seen.messages.push(message.text()));
page.on('pageerror', (error) => seen.messages.push(String(error)));
page.on('request', (request) => { if (new URL(request.url()).origin !== own) seen.elsewhere.push(request.url()); });

await page.goto(address);
seen.address = page.url();
await page.getByRole('button', { name: 'pods', exact: true }).click();
await page.locator('#table tbody tr').first().waitFor();
seen.rows = await page.locator('#table tbody tr').count();
seen.title = await page.locator('#title').textContent();
await page.locator('#table').getByRole('button', { name: pod, exact: true }).click();
await page.locator('#tools button').first().waitFor();
seen.object = (await page.locator('#text').textContent()).slice(0, 200);
await page.locator('#tools button').first().click();
await page.waitForFunction((before) => document.getElementById('text').textContent.slice(0, 200) !== before || document.getElementById('note').textContent !== '', seen.object);
seen.log = (await page.locator('#text').textContent()).slice(0, 200);
await page.locator('#query').fill('containers');
await page.locator('#query').press('Enter');
await page.waitForFunction(() => document.getElementById('name').textContent.includes('objects with'));
seen.found = await page.locator('#name').textContent();
seen.foreign = await page.evaluate(() => document.querySelectorAll('img, iframe, script:not([src="page.js"])').length);
if (shot !== '-') await page.screenshot({ path: shot });
await page.evaluate(axe);
const result = await page.evaluate(() => globalThis.axe.run());
seen.violations = result.violations.map((one) => `${one.id}: ${one.nodes.map((node) => node.target).join(' ')}`);
const other = await browser.newContext({ ignoreHTTPSErrors: true });
const stranger = await (await other.newPage()).goto(`${own}/ui/`);
seen.stranger = stranger.status();
console.log(JSON.stringify(seen));
await browser.close();
