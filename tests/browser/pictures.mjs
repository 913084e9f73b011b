// Pictures, with the browser as the only tool: side by side on a sheet, and how two differ.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const QUALITY = 0.45;

export class Lab {
  static async open(browser) {
    const lab = new Lab();
    lab.page = await browser.newPage();
    return lab;
  }

  // Pictures of one size, so many in a row.
  async sheet(pngs, columns) {
    return this.#webp(await this.page.evaluate(async ([all, columns, quality]) => {
      const images = await Promise.all(all.map(async (data) => {
        const image = new Image();
        image.src = data;
        await image.decode();
        return image;
      }));
      const [width, height] = [images[0].width + 4, images[0].height + 4];
      const canvas = new OffscreenCanvas(width * columns, height * Math.ceil(images.length / columns));
      const pen = canvas.getContext('2d');
      pen.fillStyle = '#888';
      pen.fillRect(0, 0, canvas.width, canvas.height);
      images.forEach((image, at) => pen.drawImage(image, (at % columns) * width + 2, Math.floor(at / columns) * height + 2));
      const bytes = new Uint8Array(await (await canvas.convertToBlob({ type: 'image/webp', quality })).arrayBuffer());
      return btoa(Array.from(bytes, (one) => String.fromCharCode(one)).join(''));
    }, [pngs.map(url), columns, QUALITY]));
  }

  // How two pictures differ in each of the areas: top and height in either, or all of it. Both are laid on the same
  // grid; told are the share of blocks whose brightness or colour is another one, and how far down most of them are,
  // in hundredths of the height.
  async differences(now, then, areas) {
    return this.page.evaluate(async ([now, then, areas]) => {
      const COLUMNS = 16;
      const read = async (data) => {
        const image = new Image();
        image.src = data;
        await image.decode();
        return image;
      };
      const grid = (image, [top, height], rows) => {
        let [width, high] = [image.width, height];
        const step = new OffscreenCanvas(width, Math.max(1, Math.round(high)));
        step.getContext('2d').drawImage(image, 0, top, width, high, 0, 0, width, step.height);
        let from = step;
        // Half and half again, because one step over so large a ratio skips pixels.
        while (from.width > COLUMNS || from.height > rows) {
          const half = new OffscreenCanvas(
            Math.max(COLUMNS, Math.ceil(from.width / 2)), Math.max(rows, Math.ceil(from.height / 2)));
          const pen = half.getContext('2d');
          pen.imageSmoothingQuality = 'high';
          pen.drawImage(from, 0, 0, half.width, half.height);
          from = half;
        }
        const last = new OffscreenCanvas(COLUMNS, rows);
        const pen = last.getContext('2d');
        pen.drawImage(from, 0, 0, COLUMNS, rows);
        return pen.getImageData(0, 0, COLUMNS, rows).data;
      };
      const [a, b] = [await read(now), await read(then)];
      return areas.map((area) => {
        const of = { now: area.now ?? [0, a.height], then: area.then ?? [0, b.height] };
        // A block is about as high as wide, and there are some of them.
        const rows = Math.max(4, Math.min(60, Math.round((of.then[1] * COLUMNS) / b.width)));
        const [one, two] = [grid(a, of.now, rows), grid(b, of.then, rows)];
        const byRow = new Array(rows).fill(0);
        for (let at = 0; at < one.length; at += 4) {
          const apart = Math.max(...[0, 1, 2].map((colour) => Math.abs(one[at + colour] - two[at + colour])));
          if (apart > 24) byRow[Math.floor(at / 4 / COLUMNS)] += 1;
        }
        const share = byRow.reduce((sum, one) => sum + one, 0) / (COLUMNS * rows);
        const worst = Math.round((100 * byRow.indexOf(Math.max(...byRow))) / rows);
        const higher = of.now[1] / of.then[1];
        return { part: area.part, share, worst, higher };
      });
    }, [url(now), url(then), areas]);
  }

  #webp(base64) {
    return Buffer.from(base64, 'base64');
  }
}

function url(bytes) {
  const kind = bytes.subarray(0, 4).toString('latin1') === 'RIFF' ? 'webp' : 'png';
  return `data:image/${kind};base64,${bytes.toString('base64')}`;
}

// The pages of a PDF in small; none where poppler is not installed.
export function pagesOf(pdf) {
  const folder = mkdtempSync(join(tmpdir(), 'pages-'));
  try {
    execFileSync('pdftoppm', ['-r', '24', '-png', pdf, join(folder, 'page')]);
    return readdirSync(folder).sort().map((name) => readFileSync(join(folder, name)));
  } catch (error) {
    if (error.code === 'ENOENT') return [];
    throw error;
  } finally {
    rmSync(folder, { recursive: true });
  }
}
