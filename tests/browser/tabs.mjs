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
  async open(options) {
    const key = JSON.stringify(options);
    if (!this.#pages.has(key)) this.#pages.set(key, await this.#noted(options));
    const page = this.#pages.get(key);
    await page.goto(this.#own);
    return page;
  }

  // The report in a page that is told to do what a report must not, so that nothing of it is kept.
  async openToTry() {
    if (!this.#pages.has('try')) this.#pages.set('try', await (await this.#browser.newContext()).newPage());
    const page = this.#pages.get('try');
    await page.goto(this.#own);
    return page;
  }

  async #noted(options) {
    const page = await (await this.#browser.newContext(options)).newPage();
    page.on('console', (message) => this.#seen.messages.push(message.text()));
    page.on('pageerror', (error) => this.#seen.messages.push(String(error)));
    page.on('request', (request) => request.url() === this.#own || this.#seen.requests.push(request.url()));
    return page;
  }
}
