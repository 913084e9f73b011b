// Shows a recording: kinds, tables, objects, logs and files of nodes. Everything that comes from the recording is set as text,
// never as markup, and the page's policy would not run it anyway.
'use strict';
const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json';
const AGGREGATED = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json';
const MOST_ROWS = 2000;
const MOST_TEXT = 2000000;
const $ = (id) => document.getElementById(id);
let prefix = '';
let kinds = [];
let current = null;
let rows = [];
let shown = '';

function make(name, text, attributes = {}) {
  const element = document.createElement(name);
  if (text !== undefined) element.textContent = text;
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  return element;
}

async function get(path, accept) {
  const answer = await fetch(path, { headers: { Accept: accept ?? 'application/json' } });
  const text = await answer.text();
  if (answer.ok) return text;
  let message = `${answer.status}`;
  try { message = JSON.parse(text).message ?? message; } catch { /* not a Status */ }
  throw new Error(message);
}

async function attempt(work) {
  $('note').textContent = '';
  try { await work(); } catch (error) { $('note').textContent = error.message; }
}

function root(kind) {
  return kind.group === '' ? `${prefix}/api/${kind.version}` : `${prefix}/apis/${kind.group}/${kind.version}`;
}

function path(kind, namespace, name) {
  const inside = namespace ? `/namespaces/${encodeURIComponent(namespace)}` : '';
  const one = name ? `/${encodeURIComponent(name)}` : '';
  return `${root(kind)}${inside}/${kind.plural}${one}`;
}

async function start() {
  const contexts = JSON.parse(await get('contexts.json'));
  for (const one of contexts) $('context').append(make('option', `${one.name}: ${one.title}`, { value: one.prefix }));
  $('report').hidden = !contexts.some((one) => one.report);
  await openContext(contexts[0].prefix);
}

async function openContext(chosen) {
  prefix = chosen;
  kinds = [];
  for (const place of ['/api', '/apis']) {
    const groups = JSON.parse(await get(prefix + place, AGGREGATED)).items;
    for (const group of groups) {
      for (const version of group.versions) {
        for (const one of version.resources) {
          if (!one.verbs.includes('list')) continue;
          kinds.push({ group: group.metadata.name ?? '', version: version.version, plural: one.resource, kind: one.responseKind.kind, namespaced: one.scope === 'Namespaced' });
        }
      }
    }
  }
  kinds.sort((a, b) => a.plural.localeCompare(b.plural) || a.group.localeCompare(b.group));
  $('kinds').replaceChildren(...kinds.map((kind) => {
    const item = make('li');
    const button = make('button', kind.group ? `${kind.plural}.${kind.group}` : kind.plural, { type: 'button' });
    button.addEventListener('click', () => attempt(() => openKind(kind, button)));
    item.append(button);
    return item;
  }));
  $('report').href = `report${prefix}`;
}

async function openKind(kind, button) {
  for (const one of document.querySelectorAll('[aria-current]')) one.removeAttribute('aria-current');
  button?.setAttribute('aria-current', 'true');
  current = kind;
  rows = [];
  $('title').textContent = kind.plural;
  $('table').replaceChildren();
  const namespace = kind.namespaced ? $('namespace').value.trim() : '';
  const table = JSON.parse(await get(path(kind, namespace), TABLE));
  const columns = table.columnDefinitions.map((column) => column.name);
  const head = make('tr');
  if (kind.namespaced) head.append(make('th', 'Namespace', { scope: 'col' }));
  for (const name of columns) head.append(make('th', name, { scope: 'col' }));
  rows = (table.rows ?? []).map((row) => ({ cells: row.cells, metadata: row.object.metadata }));
  $('table').replaceChildren(make('thead'), make('tbody'));
  $('table').tHead.append(head);
  $('narrow').hidden = false;
  $('filter').value = '';
  fill();
}

function fill() {
  const wanted = $('filter').value.toLowerCase();
  const holds = (row) => wanted === '' || [row.metadata.namespace, ...row.cells].join(' ').toLowerCase().includes(wanted);
  const kept = rows.filter(holds);
  const body = $('table').tBodies[0];
  body.replaceChildren(...kept.slice(0, MOST_ROWS).map((row) => {
    const line = make('tr');
    if (current.namespaced) line.append(make('td', row.metadata.namespace ?? ''));
    const at = row.cells.indexOf(row.metadata.name);
    row.cells.forEach((cell, index) => {
      const data = make('td');
      if (index === Math.max(at, 0)) {
        const button = make('button', String(cell ?? ''), { type: 'button' });
        button.addEventListener('click', () => attempt(() => openObject(current, row.metadata)));
        data.append(button);
      } else {
        data.textContent = String(cell ?? '');
      }
      line.append(data);
    });
    return line;
  }));
  const more = kept.length > MOST_ROWS ? `, ${MOST_ROWS} shown` : '';
  $('title').textContent = `${current.plural} (${kept.length} of ${rows.length}${more})`;
}

async function openObject(kind, metadata) {
  const object = JSON.parse(await get(path(kind, metadata.namespace, metadata.name)));
  $('name').textContent = [kind.kind, metadata.namespace, metadata.name].filter(Boolean).join(' / ');
  $('tools').replaceChildren();
  if (object.metadata) delete object.metadata.managedFields;
  show(JSON.stringify(object, null, 2));
  if (kind.plural === 'pods' && kind.group === '') podTools(object);
  if (kind.plural === 'nodes' && kind.group === '') tool('files', () => openFolder(metadata.name, ''));
}

function tool(text, work) {
  const button = make('button', text, { type: 'button' });
  button.addEventListener('click', () => attempt(work));
  $('tools').append(button);
}

function podTools(pod) {
  const base = path({ group: '', version: 'v1', plural: 'pods' }, pod.metadata.namespace, pod.metadata.name);
  const spec = pod.spec ?? {};
  for (const container of [...(spec.initContainers ?? []), ...(spec.containers ?? [])]) {
    const ask = (more) => async () => show(await get(`${base}/log?container=${encodeURIComponent(container.name)}&timestamps=true&tailLines=5000${more}`));
    tool(`log of ${container.name}`, ask(''));
    tool('previous', ask('&previous=true'));
  }
}

async function openFolder(node, folder) {
  const place = `${prefix}/api/v1/nodes/${encodeURIComponent(node)}/proxy/logs/${folder.split('/').map(encodeURIComponent).join('/')}`;
  const text = await get(`${place}?tailLines=5000`, '*/*');
  if (!text.startsWith('<!doctype html>')) return show(text);
  const page = new DOMParser().parseFromString(text, 'text/html');
  $('tools').replaceChildren();
  $('name').textContent = `${node}: /${folder}`;
  show('');
  if (folder) tool('..', () => openFolder(node, folder.replace(/[^/]*\/$/, '')));
  for (const link of page.querySelectorAll('a')) tool(link.textContent, () => openFolder(node, folder + link.textContent));
}

function show(text) {
  shown = text.length > MOST_TEXT ? `${text.slice(0, MOST_TEXT)}\n... and more` : text;
  $('find').hidden = false;
  highlight();
}

function highlight() {
  const needle = $('needle').value.toLowerCase();
  const lines = shown.split('\n');
  const kept = needle === '' ? lines : lines.filter((line) => line.toLowerCase().includes(needle));
  $('text').replaceChildren();
  if (needle === '') return $('text').append(shown);
  for (const line of kept.slice(0, MOST_ROWS)) {
    const at = line.toLowerCase().indexOf(needle);
    $('text').append(line.slice(0, at), make('mark', line.slice(at, at + needle.length)), `${line.slice(at + needle.length)}\n`);
  }
}

async function search() {
  const query = $('query').value.trim();
  if (query === '') return;
  const found = JSON.parse(await get(`search${prefix}?q=${encodeURIComponent(query)}`));
  $('name').textContent = `${found.length} objects with “${query}”`;
  $('tools').replaceChildren();
  show(found.map((one) => `${one.kind} ${one.key}: ${one.text}`).join('\n'));
  for (const one of found.slice(0, 50)) {
    const kind = kinds.find((known) => known.plural === one.plural && known.group === one.group);
    if (kind) tool(`${one.kind} ${one.key}`, () => openObject(kind, { namespace: one.namespace, name: one.name }));
  }
}

$('context').addEventListener('change', () => attempt(() => openContext($('context').value)));
$('namespace').addEventListener('change', () => current && attempt(() => openKind(current)));
$('filter').addEventListener('input', fill);
$('needle').addEventListener('input', highlight);
$('search').addEventListener('submit', (event) => { event.preventDefault(); attempt(search); });
attempt(start);
