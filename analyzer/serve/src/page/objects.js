// Kinds, tables, objects, and the logs and files that belong to them.
import { $, attempt, button, get, make, marked, shown } from './base.js';

const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json';
const AGGREGATED = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json';
const MOST_ROWS = 2000;
const MOST_TEXT = 2000000;
let kinds = [];
let current = null;
let rows = [];
let text = '';

function path(kind, namespace, name) {
  const root = kind.group === '' ? `${shown.prefix}/api/${kind.version}` : `${shown.prefix}/apis/${kind.group}/${kind.version}`;
  const inside = namespace ? `/namespaces/${encodeURIComponent(namespace)}` : '';
  const one = name ? `/${encodeURIComponent(name)}` : '';
  return `${root}${inside}/${kind.plural}${one}`;
}

export async function loadKinds() {
  kinds = [];
  current = null;
  rows = [];
  for (const place of ['/api', '/apis']) {
    const groups = JSON.parse(await get(shown.prefix + place, AGGREGATED)).items;
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
    const name = kind.group ? `${kind.plural}.${kind.group}` : kind.plural;
    const opens = button(name, () => openKind(kind, opens));
    item.append(opens);
    return item;
  }));
}

async function openKind(kind, opener) {
  for (const one of $('kinds').querySelectorAll('[aria-current]')) one.removeAttribute('aria-current');
  opener?.setAttribute('aria-current', 'true');
  current = kind;
  rows = [];
  $('title').textContent = kind.plural;
  $('table').replaceChildren();
  const namespace = kind.namespaced ? $('namespace').value.trim() : '';
  const table = JSON.parse(await get(path(kind, namespace), TABLE));
  const head = make('tr');
  if (kind.namespaced) head.append(make('th', 'Namespace', { scope: 'col' }));
  for (const column of table.columnDefinitions) head.append(make('th', column.name, { scope: 'col' }));
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
  $('table').tBodies[0].replaceChildren(...kept.slice(0, MOST_ROWS).map((row) => {
    const line = make('tr');
    if (current.namespaced) line.append(make('td', row.metadata.namespace ?? ''));
    const at = row.cells.indexOf(row.metadata.name);
    row.cells.forEach((cell, index) => {
      const data = make('td');
      if (index === Math.max(at, 0)) data.append(button(String(cell ?? ''), () => openObject(current, row.metadata)));
      else data.textContent = String(cell ?? '');
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

// Objects that hold a text, as buttons that open them.
export async function findObjects(words, signal) {
  const found = JSON.parse(await get(`search${shown.prefix}?q=${encodeURIComponent(words)}`, undefined, signal));
  return found.map((one) => {
    const kind = kinds.find((known) => known.plural === one.plural && known.group === one.group);
    return { label: `${one.kind} ${one.key}`, text: one.text, open: () => openObject(kind, { namespace: one.namespace, name: one.name }) };
  });
}

function tool(label, work) {
  $('tools').append(button(label, work));
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
  const place = `${shown.prefix}/api/v1/nodes/${encodeURIComponent(node)}/proxy/logs/${folder.split('/').map(encodeURIComponent).join('/')}`;
  const answer = await get(`${place}?tailLines=5000`, '*/*');
  if (!answer.startsWith('<!doctype html>')) return show(answer);
  const page = new DOMParser().parseFromString(answer, 'text/html');
  $('tools').replaceChildren();
  $('name').textContent = `${node}: /${folder}`;
  show('');
  if (folder) tool('..', () => openFolder(node, folder.replace(/[^/]*\/$/, '')));
  for (const link of page.querySelectorAll('a')) tool(link.textContent, () => openFolder(node, folder + link.textContent));
}

function show(whole) {
  text = whole.length > MOST_TEXT ? `${whole.slice(0, MOST_TEXT)}\n... and more` : whole;
  $('find').hidden = false;
  highlight();
}

function highlight() {
  const needle = $('needle').value;
  $('text').replaceChildren();
  if (needle === '') return $('text').append(text);
  const kept = text.split('\n').filter((line) => line.toLowerCase().includes(needle.toLowerCase()));
  for (const line of kept.slice(0, MOST_ROWS)) marked($('text'), `${line}\n`, needle);
}

$('namespace').addEventListener('change', () => current && attempt(() => openKind(current)));
$('filter').addEventListener('input', fill);
$('needle').addEventListener('input', highlight);
