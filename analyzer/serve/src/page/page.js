// The page: which context and which view is shown, and where a link leads.
import { $, attempt, get, go, make, shown, waiting } from './base.js';
import { openChange } from './change.js';
import { forget, openLines } from './lines.js';
import { loadKinds } from './objects.js';

const VIEWS = ['report', 'objects', 'lines', 'change'];
let contexts = [];
let opened = null;
let reported = null;

function view(name) {
  for (const one of VIEWS) $(`${one}-view`).hidden = one !== name;
  for (const one of $('views').querySelectorAll('button')) {
    if (one.dataset.view === name) one.setAttribute('aria-current', 'page'); else one.removeAttribute('aria-current');
  }
}

async function openReport() {
  if (reported === shown.prefix) return;
  const place = `report${shown.prefix}`;
  // Asked for first, so that a report that cannot be made says why.
  await waiting('Diagnosing the capture ...', () => get(place, 'text/html'));
  $('report').src = place;
  reported = shown.prefix;
}

// Shows what the address asks for: `#view=objects`, `#file=PATH&line=NUMBER`, `#view=lines&q=TEXT`.
async function route() {
  const place = Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
  const known = contexts.find((one) => one.prefix === (place.c ?? shown.prefix)) ?? contexts[0];
  if (opened !== known.prefix) {
    shown.prefix = known.prefix;
    $('context').value = known.prefix;
    opened = known.prefix;
    forget();
    await loadKinds();
  }
  delete place.c;
  const wanted = place.file ? 'lines' : VIEWS.includes(place.view) ? place.view : 'report';
  view(wanted);
  if (wanted === 'report') await openReport();
  if (wanted === 'lines') await openLines({ ...place, view: 'lines' }, () => view('objects'));
  if (wanted === 'change') await openChange();
}

async function start() {
  contexts = JSON.parse(await get('contexts.json'));
  for (const one of contexts) $('context').append(make('option', `${one.name}: ${one.title}`, { value: one.prefix }));
  await route();
}

$('views').addEventListener('click', (event) => event.target.dataset.view && go({ view: event.target.dataset.view }));
$('context').addEventListener('change', () => { shown.prefix = $('context').value; go({ view: 'report' }); });
$('search').addEventListener('submit', (event) => {
  event.preventDefault();
  const words = $('query').value.trim();
  if (words !== '') go({ view: 'lines', q: words });
});
addEventListener('hashchange', () => attempt(route));
attempt(start);
