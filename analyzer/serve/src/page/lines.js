// The files of the capture as a tree, and their lines: searched, filtered, and over time with a brush.
import { $, attempt, button, get, go, make, marked, shown, waiting } from './base.js';
import { findObjects } from './objects.js';

const AROUND = 40;
const EARLIER = 500;
const MOST_FOUND = 300;
// Bytes of a capture that are read without being asked for.
const UNASKED = 100e6;
const WIDTH = 960;
const HEIGHT = 56;
const FIELDS = { q: 'words', level: 'level', node: 'of-node', speaker: 'speaker', since: 'since', until: 'until' };
let files = null;
let place = {};
let last = 0;
let chart = null;
let running = null;

export function forget() {
  files = null;
  $('tree').replaceChildren();
}

// Shows the lines that a place of the page asks for.
export async function openLines(wanted, toObjects) {
  place = wanted;
  for (const [name, id] of Object.entries(FIELDS)) $(id).value = place[name] ?? '';
  $('file-name').textContent = place.file || 'All files';
  running?.abort();
  running = new AbortController();
  const signal = running.signal;
  if (files === null) await waiting('Listing the files ...', loadFiles);
  const asked = place.all || place.file || Object.keys(FIELDS).some((name) => place[name]);
  const size = files.reduce((sum, one) => sum + (one.size ?? 0), 0);
  if (!asked && size > UNASKED) {
    $('lines').replaceChildren();
    $('chart-box').hidden = true;
    $('note').textContent = `Pick a file or search. “Show” reads all ${Math.round(size / 1e6)} MB.`;
    return;
  }
  const line = Number(place.line ?? 0);
  const from = Number(place.from ?? 0) || Math.max(1, line - AROUND);
  const found = await waiting('Reading the capture ...', () => ask({ from: place.file ? from : '', chart: 'true' }, signal));
  chart = found.chart;
  draw();
  $('lines').replaceChildren(make('tbody'));
  append(found, line);
  $('earlier').hidden = !(place.file && from > 1);
  $('earlier').onclick = () => go({ ...place, line: '', from: Math.max(1, from - EARLIER) });
  const target = $('lines').querySelector('[aria-current]');
  if (target) target.scrollIntoView({ block: 'center' }); else $('lines-scroll').scrollTop = 0;
  await foundObjects(toObjects, signal);
}

async function ask(more, signal) {
  const query = new URLSearchParams({ path: place.file ?? '', ...more });
  for (const name of Object.keys(FIELDS)) if (place[name]) query.set(name, place[name]);
  return JSON.parse(await get(`lines${shown.prefix}?${query}`, undefined, signal));
}

async function foundObjects(toObjects, signal) {
  $('found-objects').replaceChildren();
  if (!place.q || place.file) return;
  const found = await findObjects(place.q, signal);
  $('found-objects').append(`${found.length === 1 ? '1 object holds' : `${found.length} objects hold`} “${place.q}” `);
  for (const one of found.slice(0, 30)) $('found-objects').append(button(one.label, async () => { toObjects(); await one.open(); }, { title: one.text }));
}

function append(found, target = 0) {
  const body = $('lines').tBodies[0];
  for (const one of found.lines) {
    const row = make('tr', undefined, one.level === 'error' || one.level === 'warning' ? { class: one.level } : {});
    const number = make('td');
    number.append(place.file ? String(one.line) : button(`${one.path}:${one.line}`, () => go({ view: 'lines', file: one.path, line: one.line })));
    row.append(number, make('td', one.at ? one.at.replace('T', ' ').replace('+00:00', '') : ''));
    if (!place.file) row.append(make('td', one.who));
    row.append(marked(make('td'), one.text, place.q ?? ''));
    if (one.line === target) row.setAttribute('aria-current', 'true');
    body.append(row);
    last = one.line;
  }
  $('later').hidden = !(found.more && place.file);
  const cut = found.more && !place.file ? `The first ${found.lines.length} lines in the order of time; narrow the search to see others.` : '';
  if (found.lines.length === 0 && body.rows.length === 0) $('note').textContent = 'No line fits.';
  else if (cut) $('note').textContent = cut;
}

async function loadFiles() {
  files = JSON.parse(await get(`files${shown.prefix}`));
  drawTree();
}

function opener(path, label, size) {
  const title = size === null ? path : `${path}, ${size} bytes`;
  return button(label, () => go({ view: 'lines', file: path }), { title, class: 'file' });
}

function drawTree() {
  const wanted = $('file-filter').value.toLowerCase();
  if (wanted !== '') {
    const kept = files.filter((one) => one.path.toLowerCase().includes(wanted));
    const more = kept.length > MOST_FOUND ? [make('p', `and ${kept.length - MOST_FOUND} more`)] : [];
    $('tree').replaceChildren(...kept.slice(0, MOST_FOUND).map((one) => opener(one.path, one.path, one.size)), ...more);
    return;
  }
  const all = button('All files', () => go({ view: 'lines' }), { class: 'file' });
  $('tree').replaceChildren(all, ...level(files.map((one) => ({ ...one, rest: one.path }))));
}

// The folders and files of one level; those below are made when their folder is opened.
function level(entries) {
  const folders = new Map();
  const own = [];
  for (const one of entries) {
    const at = one.rest.indexOf('/');
    if (at === -1) { own.push(one); continue; }
    const name = one.rest.slice(0, at);
    if (!folders.has(name)) folders.set(name, []);
    folders.get(name).push({ ...one, rest: one.rest.slice(at + 1) });
  }
  const made = [...folders].map(([name, inside]) => {
    const folder = make('details');
    folder.append(make('summary', `${name}/ (${inside.length})`));
    const fill = () => { if (folder.open && folder.childElementCount === 1) folder.append(...level(inside)); };
    folder.addEventListener('toggle', fill);
    folder.open = folders.size + own.length === 1;
    return folder;
  });
  return [...made, ...own.map((one) => opener(one.path, one.rest, one.size))];
}

const SVG = 'http://www.w3.org/2000/svg';
function box(name, x, width, height, y = HEIGHT - height) {
  const rect = document.createElementNS(SVG, 'rect');
  for (const [key, value] of Object.entries({ class: name, x, width, height, y })) rect.setAttribute(key, value);
  $('chart').append(rect);
  return rect;
}

function range() {
  const columns = chart.columns;
  const start = columns[0].at;
  return { start, seconds: columns[columns.length - 1].at + chart.seconds - start };
}

const moment = (seconds) => new Date(seconds * 1000).toISOString().replace('.000Z', 'Z');

function draw() {
  const has = (chart?.columns ?? []).length > 0;
  $('chart-box').hidden = !has;
  $('chart').replaceChildren();
  if (!has) return;
  const { start, seconds } = range();
  const most = Math.max(...chart.columns.map((one) => one.all));
  const scale = (count) => (count === 0 ? 0 : Math.max(2, Math.sqrt(count / most) * (HEIGHT - 2)));
  const width = Math.max(1.5, (chart.seconds / seconds) * WIDTH - 0.5);
  const sum = { all: 0, loud: 0, errors: 0 };
  for (const one of chart.columns) {
    const x = ((one.at - start) / seconds) * WIDTH;
    for (const name of ['all', 'loud', 'errors']) {
      sum[name] += one[name];
      if (one[name] > 0) box(name, x, width, scale(one[name]));
    }
  }
  const said = `${sum.all} lines with a time from ${moment(start)} to ${moment(start + seconds)}: ${sum.errors} errors, ${sum.loud - sum.errors} warnings. Drag over the chart to see a part.`;
  $('chart-note').textContent = said;
  $('chart').setAttribute('aria-label', said);
}

function brush() {
  let begin = null;
  let selected = null;
  const at = (event) => {
    const area = $('chart').getBoundingClientRect();
    return Math.min(WIDTH, Math.max(0, ((event.clientX - area.left) / area.width) * WIDTH));
  };
  $('chart').addEventListener('pointerdown', (event) => {
    begin = at(event);
    selected = box('brush', begin, 0, HEIGHT);
    $('chart').setPointerCapture(event.pointerId);
  });
  $('chart').addEventListener('pointermove', (event) => {
    if (begin === null) return;
    selected.setAttribute('x', Math.min(begin, at(event)));
    selected.setAttribute('width', Math.abs(at(event) - begin));
  });
  $('chart').addEventListener('pointerup', (event) => {
    if (begin === null) return;
    const ends = [begin, at(event)].sort((a, b) => a - b);
    begin = null;
    selected.remove();
    if (ends[1] - ends[0] < 3) return;
    const { start, seconds } = range();
    const time = (x, round) => moment(round(start + (x / WIDTH) * seconds));
    go({ ...place, view: 'lines', line: '', from: '', since: time(ends[0], Math.floor), until: time(ends[1], Math.ceil) });
  });
}

function typed() {
  const asked = { view: 'lines', file: place.file ?? '', all: '1' };
  for (const [name, id] of Object.entries(FIELDS)) asked[name] = $(id).value.trim();
  return asked;
}

brush();
$('file-filter').addEventListener('input', () => files && drawTree());
$('lines-form').addEventListener('submit', (event) => { event.preventDefault(); go(typed()); });
$('whole').addEventListener('click', () => go({ ...typed(), since: '', until: '' }));
$('later').addEventListener('click', () => attempt(async () => append(await waiting('Reading the capture ...', () => ask({ from: last + 1 }, running?.signal)))));
