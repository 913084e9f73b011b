// What the views share. Everything that comes from the recording is set as text, never as markup, and the page's policy
// would not run it anyway.
export const $ = (id) => document.getElementById(id);

// The context that is shown: what its paths start with.
export const shown = { prefix: '' };

export function make(name, text, attributes = {}) {
  const element = document.createElement(name);
  if (text !== undefined) element.textContent = text;
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  return element;
}

export function button(text, work, attributes = {}) {
  const element = make('button', text, { type: 'button', ...attributes });
  element.addEventListener('click', () => attempt(work));
  return element;
}

async function answered(answer) {
  const text = await answer.text();
  if (answer.ok) return text;
  let message = `${answer.status}`;
  try { message = JSON.parse(text).message ?? message; } catch { /* not a Status */ }
  throw new Error(message);
}

export async function get(path, accept = 'application/json', signal = undefined) {
  return answered(await fetch(path, { headers: { Accept: accept }, signal }));
}

export async function post(path, value) {
  const headers = { 'Content-Type': 'application/json' };
  return answered(await fetch(path, { method: 'POST', headers, body: JSON.stringify(value) }));
}

// Does something and says what went wrong.
export async function attempt(work) {
  $('note').textContent = '';
  try { await work(); } catch (error) {
    if (error.name !== 'AbortError') $('note').textContent = error.message;
  }
}

// Says that something takes a while, until it is done.
export async function waiting(text, work) {
  $('note').textContent = text;
  try { return await work(); } finally { if ($('note').textContent === text) $('note').textContent = ''; }
}

// Goes to a place of the page; the browser's own history leads back.
export function go(place) {
  const filled = Object.entries({ c: shown.prefix, ...place }).filter(([, value]) => value !== '' && value !== undefined);
  location.hash = new URLSearchParams(filled).toString();
}

// The text with each place that holds the words marked.
export function marked(element, text, words) {
  const lower = text.toLowerCase();
  const wanted = words.toLowerCase();
  let from = 0;
  // A letter may change its length when it changes its case: then positions mean nothing.
  if (wanted !== '' && lower.length === text.length) {
    for (let at = lower.indexOf(wanted); at !== -1; at = lower.indexOf(wanted, from)) {
      element.append(text.slice(from, at), make('mark', text.slice(at, at + wanted.length)));
      from = at + wanted.length;
    }
  }
  element.append(text.slice(from));
  return element;
}
