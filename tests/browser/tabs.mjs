// Pages that are used for one report after another: a new one is a new process, which costs more than what it is asked.
import { pathToFileURL } from 'node:url';

export class Tabs {
  #browser;
  #pages = new Map();
  #own;
  #seen;

  constructor(browser) {
    this.#browser = browser;
  }

  // From now on this report is opened, and what it says on the console and asks for is kept in `seen`.
  next(report, seen) {
    this.#own = pathToFileURL(report).href;
    this.#seen = seen;
  }

  // The report, opened anew in the page with these options.
  open(options) {
    return this.#opened(JSON.stringify(options), () => this.#noted(options));
  }

  // The report in a page that is told to do what a report must not, so that nothing of it is kept.
  openToTry() {
    return this.#opened('try', () => this.#made({}));
  }

  async #opened(name, make) {
    if (!this.#pages.has(name)) this.#pages.set(name, await make());
    const page = this.#pages.get(name);
    await page.goto(this.#own);
    return page;
  }

  async #made(options) {
    return (await this.#browser.newContext(options)).newPage();
  }

  async #noted(options) {
    const page = await this.#made(options);
    page.on('console', (message) => this.#seen.messages.push(message.text()));
    page.on('pageerror', (error) => this.#seen.messages.push(String(error)));
    page.on('request', (request) => request.url() === this.#own || this.#seen.requests.push(request.url()));
    return page;
  }
}
