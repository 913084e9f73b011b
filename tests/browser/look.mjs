// Opens rendered reports in Chromium and prints what it saw as JSON, one object a report.
//
//   node look.mjs CHROMIUM SHOTS|- REPORT.html...
//
// Each report is opened with scripts disabled, as its readers get it, at phone and desktop width, light and
// dark; then once with scripts on for axe-core, which runs in a world of its own. With a folder for SHOTS the
// first screens are kept there as NAME-WIDTH-SCHEME.webp, the whole page in small as NAME-page.webp, paper as
// NAME.pdf and as a sheet of its pages, NAME-paper.webp.
import { readFileSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';
import { Lab, pagesOf } from './pictures.mjs';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const WIDTHS = { phone: { width: 390, height: 844 }, desktop: { width: 1280, height: 900 } };
const [executablePath, shots, ...reports] = process.argv.slice(2);

const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] });
const lab = await Lab.open(browser);
const seen = new Array(reports.length);
let next = 0;
// A few at a time: one waits for its pages while another is laid out.
await Promise.all(Array.from({ length: 3 }, async () => {
  while (next < reports.length) {
    const mine = next++;
    seen[mine] = await look(resolve(reports[mine]));
  }
}));
for (const one of seen) console.log(JSON.stringify(one));
await browser.close();

async function look(report) {
  const name = basename(report).replace(/\.html$/, '');
  const seen = { report: name, messages: [], requests: [], axe: [], views: [], closed: 0 };
  for (const [width, viewport] of Object.entries(WIDTHS)) {
    for (const colorScheme of ['light', 'dark']) {
      const page = await open(report, seen, { viewport, colorScheme, javaScriptEnabled: false });
      seen.views.push({ width, colorScheme, ...(await geometry(page)) });
      if (shots !== '-') await keep(page, `${name}-${width}-${colorScheme}`, {}, viewport.width);
      if (shots !== '-' && width === 'desktop' && colorScheme === 'light') {
        await keep(page, `${name}-page`, { fullPage: true }, 256);
      }
      await page.context().close();
    }
  }
  for (const colorScheme of ['light', 'dark']) {
    const page = await open(report, seen, { viewport: WIDTHS.desktop, colorScheme, bypassCSP: true });
    await page.evaluate(() => document.querySelectorAll('details').forEach((one) => (one.open = true)));
    await page.evaluate(axe);
    const found = await page.evaluate(() => axe.run(document, { resultTypes: ['violations'] }));
    for (const { id, help, nodes } of found.violations) {
      seen.axe.push(`${colorScheme}: ${id}: ${help}: ${nodes.length} nodes, first ${nodes[0].html.slice(0, 200)}`);
    }
    await page.context().close();
  }
  seen.blocked = await blocked(report);
  if (shots !== '-') {
    const page = await open(report, seen, { viewport: WIDTHS.desktop, javaScriptEnabled: false });
    const paper = join(shots, `${name}.pdf`);
    await page.pdf({ path: paper, preferCSSPageSize: true, printBackground: true });
    await page.context().close();
    const pages = pagesOf(paper);
    if (pages.length > 0) writeFileSync(join(shots, `${name}-paper.webp`), await lab.sheet(pages, 5));
  }
  return seen;
}

// Keeps what is on the screen, or the whole page, at a width.
async function keep(page, name, how, width) {
  const picture = await page.screenshot(how);
  writeFileSync(join(shots, `${name}.webp`), await lab.shrunk(picture, width));
}

async function open(report, seen, options) {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  page.on('console', (message) => seen.messages.push(message.text()));
  page.on('pageerror', (error) => seen.messages.push(String(error)));
  const own = pathToFileURL(report).href;
  page.on('request', (request) => request.url() === own || seen.requests.push(request.url()));
  await page.goto(own);
  return page;
}

// What is laid out wrong: wider than the window, or text that runs out of its drawing.
async function geometry(page) {
  return page.evaluate(() => {
    const wide = document.documentElement.scrollWidth - document.documentElement.clientWidth;
    const out = [];
    for (const text of document.querySelectorAll('svg text')) {
      const box = text.getBBox();
      const view = text.ownerSVGElement.viewBox.baseVal;
      if (box.width && (box.x < -1 || box.x + box.width > view.width + 1 || box.y + box.height > view.height + 2)) {
        out.push(`${text.ownerSVGElement.getAttribute('aria-labelledby')}: ${text.textContent}`);
      }
    }
    const named = [...document.querySelectorAll('[tabindex="0"]')].filter((one) => !one.getAttribute('aria-label'));
    return {
      wide,
      runsOut: out,
      unnamed: named.length,
      sections: [...document.querySelectorAll('h2')].filter((one) => one.getBoundingClientRect().height > 0).map((one) => one.id || one.textContent),
      drawings: [...document.querySelectorAll('svg')].filter((one) => one.getBoundingClientRect().width > 40).length,
      headings: [...document.querySelectorAll('h1,h2')].length,
      height: document.documentElement.scrollHeight,
    };
  });
}

// Tries to break out: whatever a page that was tampered with might load has to be stopped by its own policy.
async function blocked(report) {
  const context = await browser.newContext();
  const page = await context.newPage();
  const asked = [];
  await page.route('http://**', (route) => (asked.push(route.request().url()), route.abort()));
  await page.goto(pathToFileURL(report).href);
  await page.evaluate(() => {
    const add = (tag, values) => document.body.append(Object.assign(document.createElement(tag), values));
    add('img', { src: 'http://127.0.0.1:9/i.png' });
    add('script', { src: 'http://127.0.0.1:9/s.js' });
    add('iframe', { src: 'http://127.0.0.1:9/f.html' });
    add('link', { rel: 'stylesheet', href: 'http://127.0.0.1:9/c.css' });
    add('script', { textContent: 'document.title = "ran"' });
    return fetch('http://127.0.0.1:9/x').catch(() => {});
  });
  await page.waitForTimeout(100);
  const ran = (await page.title()) === 'ran';
  await context.close();
  return { asked, ran };
}
