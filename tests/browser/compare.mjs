// Compares pictures with reviewed ones and prints how they differ as JSON, one object a pair.
//
//   node compare.mjs CHROMIUM ROWS NOW THEN [ROWS NOW THEN]...
//
// ROWS is the height of the grid that both are laid on: a coarse one does not mind another font.
import { readFileSync } from 'node:fs';
import { chromium } from 'playwright-core';
import { Lab } from './pictures.mjs';

const [executablePath, ...rest] = process.argv.slice(2);
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] });
const lab = await Lab.open(browser);
for (let at = 0; at + 2 < rest.length; at += 3) {
  const [rows, now, then] = rest.slice(at, at + 3);
  console.log(JSON.stringify({ now, ...(await lab.difference(readFileSync(now), readFileSync(then), Number(rows))) }));
}
await browser.close();
