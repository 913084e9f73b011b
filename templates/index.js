
// Filters of the inbox. Without them the page is complete.
(() => {
  'use strict';
  const rows = Array.from(document.querySelectorAll('#bundles tbody tr'));
  const text = document.getElementById('text');
  const selects = Array.from(document.querySelectorAll('.tools select'));
  const count = document.getElementById('count');
  const words = new Map(rows.map((row) => [row, row.textContent.toLowerCase()]));
  const read = () => new URLSearchParams(location.hash.slice(1));
  const apply = () => {
    const wanted = text.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of rows) {
      const fits = wanted.every((word) => words.get(row).includes(word))
        && selects.every((select) => !select.value || row.dataset[select.name] === select.value);
      row.hidden = !fits;
      if (fits) shown += 1;
    }
    count.textContent = `${shown} of ${rows.length}`;
    const state = new URLSearchParams();
    if (text.value) state.set('text', text.value);
    for (const select of selects) if (select.value) state.set(select.name, select.value);
    history.replaceState(null, '', `#${state}`);
  };
  const load = () => {
    const state = read();
    text.value = state.get('text') || '';
    for (const select of selects) select.value = state.get(select.name) || '';
    apply();
  };
  text.addEventListener('input', apply);
  for (const select of selects) select.addEventListener('change', apply);
  document.querySelector('.tools').hidden = false;
  load();
})();
