// What a reader can do with a report beyond reading it: search, copy, unfold, zoom. Everything is readable without it.
// The page is well-formed XML as well, so neither a less-than sign nor an ampersand stands in here.
(() => {
  'use strict';
  const all = (selector, root = document) => Array.from(root.querySelectorAll(selector));
  const make = (tag, attributes, ...children) => {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    element.append(...children);
    return element;
  };

  // Copy buttons on what people paste.
  for (const box of all('pre.command, figure.file pre, .message')) {
    const button = make('button', { type: 'button', class: 'copy' }, 'Copy');
    button.addEventListener('click', async () => {
      const text = box.classList.contains('message') ? all('div', box).map((line) => line.textContent).join('\n') : box.textContent;
      try {
        await navigator.clipboard.writeText(text);
        button.textContent = 'Copied';
      } catch {
        // A page opened from a file may not write to the clipboard: select it, and the reader's own keys copy it.
        getSelection().selectAllChildren(box);
        button.textContent = 'Press Ctrl+C';
      }
      setTimeout(() => { button.textContent = 'Copy'; }, 2000);
    });
    box.before(make('div', { class: 'copies' }, button));
  }

  // A link to each heading.
  for (const heading of all('main h2[id], main h3[id], main h4[id]')) {
    heading.append(make('a', { class: 'deep', href: `#${heading.id}`, 'aria-label': `Link to ${heading.textContent}` }, '#'));
  }

  // A link into what is folded unfolds it.
  const unfold = () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    for (let at = target; at; at = at.parentElement) if (at.tagName === 'DETAILS') at.open = true;
    if (target) target.scrollIntoView();
  };
  addEventListener('hashchange', unfold);
  if (location.hash) unfold();

  // Search over evidence, timeline and tables.
  const input = make('input', { type: 'search', id: 'search', placeholder: 'Search evidence, timeline, tables', 'aria-label': 'Search evidence, timeline and tables' });
  const count = make('output', { for: 'search', class: 'found' });
  const toggle = make('button', { type: 'button' }, 'Unfold all');
  const bar = make('div', { class: 'tools', role: 'search' }, input, toggle, count);
  document.querySelector('main').before(bar);
  const rows = all('main .evidence > li, main tbody tr, main .steps > li').map((row) => [row, row.textContent.toLowerCase()]);
  input.addEventListener('input', () => {
    const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    let found = 0;
    for (const [row, text] of rows) {
      const fits = words.every((word) => text.includes(word));
      const hit = words.length > 0 ? fits : false;
      row.classList.toggle('out', !fits);
      row.classList.toggle('hit', hit);
      if (hit) {
        found += 1;
        for (let at = row.parentElement; at; at = at.parentElement) if (at.tagName === 'DETAILS') at.open = true;
      }
    }
    count.textContent = words.length === 0 ? '' : `${found} of ${rows.length}`;
  });
  toggle.addEventListener('click', () => {
    const open = toggle.textContent === 'Unfold all';
    for (const details of all('main details')) details.open = open;
    toggle.textContent = open ? 'Fold all' : 'Unfold all';
  });

  // Zoom of drawings that are wider than the page.
  for (const figure of all('figure.drawing')) {
    const drawing = figure.querySelector('svg');
    const width = Number(drawing.getAttribute('width'));
    const height = Number(drawing.getAttribute('height'));
    let scale = 1;
    const zoom = (factor) => {
      scale = Math.min(4, Math.max(0.5, scale * factor));
      drawing.setAttribute('width', width * scale);
      drawing.setAttribute('height', height * scale);
    };
    const buttons = [['Zoom out', '−', 1 / 1.5], ['Zoom in', '+', 1.5]].map(([label, sign, factor]) => {
      const button = make('button', { type: 'button', 'aria-label': label }, sign);
      button.addEventListener('click', () => zoom(factor));
      return button;
    });
    figure.prepend(make('div', { class: 'copies' }, ...buttons));
  }
})();
