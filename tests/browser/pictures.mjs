// Pictures, with the browser as the only tool: smaller, side by side on a sheet, and how two differ.
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

  // The picture as WebP at this width.
  async shrunk(png, width) {
    return this.#webp(await this.page.evaluate(async ([data, width, quality]) => {
      const image = new Image();
      image.src = data;
      await image.decode();
      // WebP holds no picture that is higher than this.
      const height = Math.min(16383, Math.round((image.height * width) / image.width));
      const canvas = new OffscreenCanvas(width, height);
      const pen = canvas.getContext('2d');
      pen.imageSmoothingQuality = 'high';
      pen.drawImage(image, 0, 0, width, (image.height * width) / image.width);
      const bytes = new Uint8Array(await (await canvas.convertToBlob({ type: 'image/webp', quality })).arrayBuffer());
      return btoa(Array.from(bytes, (one) => String.fromCharCode(one)).join(''));
    }, [url(png), width, QUALITY]));
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

  // How two pictures differ, each laid on the same grid: the share of blocks whose brightness or colour is
  // another one, and where the most of them are, from the top, in hundredths of the height.
  async difference(now, then, rows) {
    return this.page.evaluate(async ([now, then, rows]) => {
      const COLUMNS = 16;
      const grid = async (data) => {
        const image = new Image();
        image.src = data;
        await image.decode();
        const canvas = new OffscreenCanvas(COLUMNS, rows);
        const pen = canvas.getContext('2d');
        pen.imageSmoothingQuality = 'high';
        // Half and half again, because one step over so large a ratio skips pixels.
        let from = image;
        let [width, height] = [image.width, image.height];
        while (width > 2 * COLUMNS || height > 2 * rows) {
          [width, height] = [Math.max(COLUMNS, Math.ceil(width / 2)), Math.max(rows, Math.ceil(height / 2))];
          const half = new OffscreenCanvas(width, height);
          half.getContext('2d').drawImage(from, 0, 0, width, height);
          from = half;
        }
        pen.drawImage(from, 0, 0, COLUMNS, rows);
        return pen.getImageData(0, 0, COLUMNS, rows).data;
      };
      const [a, b] = [await grid(now), await grid(then)];
      const byRow = new Array(rows).fill(0);
      for (let at = 0; at < a.length; at += 4) {
        const apart = Math.max(...[0, 1, 2].map((colour) => Math.abs(a[at + colour] - b[at + colour])));
        if (apart > 24) byRow[Math.floor(at / 4 / COLUMNS)] += 1;
      }
      const share = byRow.reduce((sum, one) => sum + one, 0) / (COLUMNS * rows);
      return { share, worst: Math.round((100 * byRow.indexOf(Math.max(...byRow))) / rows) };
    }, [url(now), url(then), rows]);
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
