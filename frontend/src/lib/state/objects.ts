import type { Backend } from '$lib/backend/backend';

const cacheSize = 40;

/** Images of the store as data URLs; the last ones shown are kept. */
export class Objects {
  readonly #backend: Backend;
  readonly #urls = new Map<string, Promise<string>>();

  constructor(backend: Backend) {
    this.#backend = backend;
  }

  url(id: string, mime: string): Promise<string> {
    const known = this.#urls.get(id);
    if (known) {
      this.#urls.delete(id);
      this.#urls.set(id, known);
      return known;
    }
    const url = this.#backend.object(id, mime);
    this.#urls.set(id, url);
    // A failure is not kept: the next showing tries again.
    url.catch(() => this.#urls.delete(id));
    if (this.#urls.size > cacheSize) this.#urls.delete(this.#urls.keys().next().value as string);
    return url;
  }
}
