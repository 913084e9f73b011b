// What a change would do to the captured state: `fix` as a form.
import { $, attempt, get, make, post, shown, waiting } from './base.js';

let loaded = null;

export async function openChange() {
  if (loaded === shown.prefix) return;
  const causes = JSON.parse(await waiting('Diagnosing ...', () => get(`causes${shown.prefix}`)));
  const options = causes.map((one) => make('option', `${one.verdict}: ${one.title}`, { value: one.cause }));
  $('cause').replaceChildren(...options, make('option', 'no cause: only what else changes', { value: '' }));
  loaded = shown.prefix;
}

async function tryOut(text) {
  $('change-result').textContent = '';
  $('change-files').replaceChildren();
  $('change-state').textContent = 'Trying ...';
  const change = { name: $('change-name').value, text, cause: text === '' ? '' : $('cause').value, release: $('change-release').value, at: $('change-at').value, node: $('change-node').value };
  let tried;
  try {
    tried = JSON.parse(await post(`change${shown.prefix}`, change));
  } catch (error) {
    $('change-state').textContent = 'This change cannot be tried';
    $('change-result').textContent = error.message;
    return;
  }
  $('change-state').textContent = 'What the change does';
  $('change-result').textContent = tried.text;
  for (const file of tried.files) {
    const folded = make('details');
    folded.append(make('summary', file.name), make('pre', file.text, { tabindex: '0', role: 'region', 'aria-label': file.name }));
    $('change-files').append(folded);
  }
  $('change-state').focus();
}

$('change-form').addEventListener('submit', (event) => {
  event.preventDefault();
  attempt(async () => {
    if ($('change-text').value.trim() === '') throw new Error('Write the text of the change first.');
    await tryOut($('change-text').value);
  });
});
$('rules-fixes').addEventListener('click', () => attempt(() => tryOut('')));
