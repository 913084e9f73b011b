// Opens rendered reports in Chromium and prints what it saw as JSON, one object a report.
//
//   node look.mjs CHROMIUM SHOTS|- all|paper REPORT.html[=REVIEWED]...
//
// Each report is opened once with scripts disabled, as its readers get it, and looked at in phone and desktop
// width, light and dark; and once with scripts on for axe-core, which runs in a world of its own. With a folder
// for SHOTS the first screens are kept there as NAME-WIDTH-SCHEME.webp, the whole page in small as
// NAME-page.webp and paper as NAME.pdf. With a folder of REVIEWED pictures each is compared with its like;
// without one a sheet of the printed pages, NAME-paper.webp, is made to be looked at. `paper` leaves out all but the
// print, the console and axe-core.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';
import { Lab, pagesOf } from './pictures.mjs';
import { Tabs } from './tabs.mjs';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const WIDTHS = { phone: { width: 390, height: 844 }, desktop: { width: 1280, height: 900 } };
const SCHEMES = ['light', 'dark'];
// The whole page is kept so much smaller.
const SMALL = 0.2;
const [executablePath, shots, extent, ...reports] = process.argv.slice(2);

const fonts = fileURLToPath(new URL('fonts.conf', import.meta.url));
const browser = await chromium.launch({
  executablePath,
  args: ['--no-sandbox', '--disable-gpu'],
  env: { ...process.env, FONTCONFIG_FILE: fonts },
});
const lab = await Lab.open(browser);
const seen = new Array(reports.length);
let next = 0;
// Two at a time: one waits for its pages while another is laid out.
await Promise.all(Array.from({ length: 2 }, async () => {
  const tabs = new Tabs(browser);
  while (next < reports.length) {
    const mine = next++;
    const [report, reviewed] = reports[mine].split('=');
    seen[mine] = await look(tabs, resolve(report), reviewed);
  }
}));
for (const one of seen) console.log(JSON.stringify(one));
await browser.close();

async function look(tabs, report, reviewed) {
  const name = basename(report).replace(/\.html$/, '');
  const seen = { report: name, messages: [], requests: [], axe: [], views: [], differences: [] };
  tabs.next(report, seen);
  const page = await tabs.open({ viewport: WIDTHS.phone, javaScriptEnabled: false });
  await page.setViewportSize(WIDTHS.phone);
  if (extent === 'all') await views(page, seen, reviewed);
  if (shots !== '-') await paper(page, seen, reviewed);
  await accessible(tabs, seen);
  if (extent !== 'all') return seen;
  seen.keyboard = await walked(tabs);
  seen.blocked = await blocked(tabs);
  return seen;
}

// The page in each width and scheme.
async function views(page, seen, reviewed) {
  const camera = await page.context().newCDPSession(page);
  for (const [width, viewport] of Object.entries(WIDTHS)) {
    await page.setViewportSize(viewport);
    for (const colorScheme of SCHEMES) {
      await page.emulateMedia({ colorScheme });
      const view = await page.evaluate(geometry);
      seen.views.push({ width, colorScheme, ...view });
      if (shots === '-') continue;
      const screen = await picture(camera, viewport, 1);
      await keep(seen, reviewed, `${width}-${colorScheme}`, screen);
      if (width === 'desktop' && colorScheme === 'light') {
        seen.parts = view.parts;
        const all = { width: viewport.width, height: view.height };
        await keep(seen, reviewed, 'page', await picture(camera, all, SMALL), view.parts);
      }
    }
  }
  await camera.detach();
}

async function paper(page, seen, reviewed) {
  const path = join(shots, `${seen.report}.pdf`);
  await page.emulateMedia({ colorScheme: 'light' });
  await page.pdf({ path, preferCSSPageSize: true, printBackground: true });
  const pages = reviewed ? [] : pagesOf(path);
  if (pages.length > 0) writeFileSync(join(shots, `${seen.report}-paper.webp`), await lab.sheet(pages, 5));
}

// Rules of accessibility on everything unfolded; colours once more in the dark.
async function accessible(tabs, seen) {
  const page = await tabs.open({ viewport: WIDTHS.desktop, bypassCSP: true });
  await page.evaluate(() => document.querySelectorAll('details').forEach((one) => (one.open = true)));
  await page.evaluate(axe);
  for (const colorScheme of SCHEMES) {
    await page.emulateMedia({ colorScheme });
    const only = colorScheme === 'dark' ? { runOnly: ['color-contrast'] } : {};
    const found = await page.evaluate((only) => axe.run(document, { resultTypes: ['violations'], ...only }), only);
    for (const { id, help, nodes } of found.violations) {
      seen.axe.push(`${colorScheme}: ${id}: ${help}: ${nodes.length} nodes, first ${nodes[0].html.slice(0, 200)}`);
    }
  }
}

// The page by the keyboard alone, everything unfolded: Tab reaches each place to stop at, each is marked while it is
// there and has a name, none holds the walk, and Enter folds and unfolds.
async function walked(tabs) {
  const page = await tabs.open({ viewport: WIDTHS.desktop, reducedMotion: 'reduce' });
  const stops = await page.evaluate(() => {
    document.querySelectorAll('details').forEach((one) => (one.open = true));
    const can = 'a[href], button, summary, input, select, textarea, [tabindex]:not([tabindex="-1"])';
    const all = [...document.querySelectorAll(can)].filter((one) => one.checkVisibility() && !one.disabled);
    all.forEach((one, at) => (one.dataset.stop = at));
    return all.map((one) => `${one.tagName.toLowerCase()} ${one.textContent.trim().slice(0, 40)}`);
  });
  await page.evaluate(lookBeforeEachKey);
  await tab(page, stops.length + 4);
  const reached = new Set();
  const faults = [];
  for (const at of await page.evaluate(() => globalThis.passed.slice(1))) {
    // Behind the last stop the page has no focus, or under load is entered anew before it has noticed.
    if (at.stop === undefined || reached.size === stops.length) break;
    if (reached.has(at.stop)) {
      faults.push(`comes back to ${stops[at.stop]}`);
      break;
    }
    reached.add(at.stop);
    for (const what of ['marked', 'named', 'inView']) if (!at[what]) faults.push(`not ${what}: ${stops[at.stop]}`);
  }
  stops.forEach((one, at) => reached.has(String(at)) || faults.push(`not reached: ${one}`));
  const fold = page.locator('summary').first();
  if (await fold.count()) {
    const isOpen = () => fold.evaluate((one) => one.parentElement.open);
    const before = await isOpen();
    await fold.press('Enter');
    if ((await isOpen()) === before) faults.push('Enter does not fold');
  }
  return { stops: stops.length, faults };
}

// In the page: notes what has the focus before each key, before the first one nothing, so that nobody waits for an
// answer between two keys.
function lookBeforeEachKey() {
  globalThis.passed = [];
  document.addEventListener('keydown', () => {
    const one = document.activeElement ?? document.body;
    const { outlineStyle, boxShadow, borderStyle } = getComputedStyle(one);
    const name = one.getAttribute('aria-label') ?? one.labels?.[0]?.textContent ?? one.textContent ?? one.title;
    const box = one.getBoundingClientRect();
    globalThis.passed.push({
      stop: one.dataset.stop,
      marked: outlineStyle !== 'none' || boxShadow !== 'none' || borderStyle === 'dashed',
      named: Boolean((name || one.placeholder || '').trim()),
      inView: box.bottom > 0 && box.top < innerHeight,
    });
  }, { capture: true });
}

// Presses Tab so many times.
async function tab(page, times) {
  const keys = await page.context().newCDPSession(page);
  const key = { key: 'Tab', code: 'Tab', windowsVirtualKeyCode: 9 };
  const types = Array.from({ length: times }, () => ['rawKeyDown', 'keyUp']).flat();
  await Promise.all(types.map((type) => keys.send('Input.dispatchKeyEvent', { type, ...key })));
  await keys.detach();
}

// What stands in the top left corner of the page, so large, as WebP.
async function picture(camera, { width, height }, scale) {
  // WebP holds no picture that is higher than this.
  const clip = { x: 0, y: 0, width, height: Math.min(height, 16383 / scale), scale };
  const how = { format: 'webp', quality: 45, captureBeyondViewport: true, clip };
  return Buffer.from((await camera.send('Page.captureScreenshot', how)).data, 'base64');
}

// Keeps a picture, and says how it differs from the reviewed one: part by part where the page has parts, so that
// a part that grew moves nothing but itself.
async function keep(seen, reviewed, kind, now, parts) {
  writeFileSync(join(shots, `${seen.report}-${kind}.webp`), now);
  const path = reviewed && join(reviewed, `${kind}.webp`);
  if (!path || !existsSync(path)) return;
  const then = readFileSync(path);
  if (now.equals(then)) return;
  const before = parts && JSON.parse(readFileSync(join(reviewed, 'reviewed.json'))).parts;
  const pairs = Object.entries(parts ?? {}).filter(([id]) => before?.[id]);
  const whole = [{ part: 'the whole' }];
  const scaled = ([top, height]) => [top * SMALL, height * SMALL];
  const areas = parts ? pairs.map(([part, area]) => ({ part, now: scaled(area), then: scaled(before[part]) })) : whole;
  for (const found of await lab.differences(now, then, areas)) seen.differences.push({ picture: kind, ...found });
}

// What is laid out wrong: wider than the window, or text that runs out of its drawing; and where each part of the
// page stands, from the top.
function geometry() {
  const wide = document.documentElement.scrollWidth - document.documentElement.clientWidth;
  const out = [];
  for (const text of document.querySelectorAll('svg text')) {
    const box = text.getBBox();
    const view = text.ownerSVGElement.viewBox.baseVal;
    if (box.width && (box.x < -1 || box.x + box.width > view.width + 1 || box.y + box.height > view.height + 2)) {
      out.push(`${text.ownerSVGElement.getAttribute('aria-labelledby')}: ${text.textContent}`);
    }
  }
  const seenAt = (one) => one.getBoundingClientRect().width > 0;
  const sideways = [...document.querySelectorAll('.drawing .scroll')].filter(
    (one) => seenAt(one) && one.scrollWidth > one.clientWidth);
  const named = [...document.querySelectorAll('[tabindex="0"]')].filter((one) => !one.getAttribute('aria-label'));
  const visible = (one) => one.getBoundingClientRect().height > 0;
  const area = (one) => {
    const box = one.getBoundingClientRect();
    return [Math.round(box.top + window.scrollY), Math.round(box.height)];
  };
  const parts = { top: area(document.querySelector('header')) };
  for (const one of document.querySelectorAll('main > section')) parts[one.getAttribute('aria-labelledby')] = area(one);
  return {
    wide,
    runsOut: out,
    unnamed: named.length,
    sideways: sideways.map((one) => one.getAttribute('aria-label')),
    sections: [...document.querySelectorAll('h2')].filter(visible).map((one) => one.id || one.textContent),
    drawings: [...document.querySelectorAll('svg')].filter((one) => one.getBoundingClientRect().width > 40).length,
    height: document.documentElement.scrollHeight,
    parts,
  };
}

// Tries to break out: whatever a page that was tampered with might load has to be stopped by its own policy.
async function blocked(tabs) {
  const asked = [];
  const page = await tabs.openToTry();
  const pattern = 'http://**';
  await page.route(pattern, (route) => (asked.push(route.request().url()), route.abort()));
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
  await page.unroute(pattern);
  return { asked, ran };
}
