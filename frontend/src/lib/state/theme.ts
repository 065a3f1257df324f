import type { Settings } from '$lib/backend/types';

const lightQuery = '(prefers-color-scheme: light)';

/** Sets the theme of the page, following the system when asked to. */
export class Theme {
  readonly #system = window.matchMedia(lightQuery);
  #choice: Settings['theme'] = 'system';

  constructor() {
    this.#system.addEventListener('change', () => this.#apply());
    this.#apply();
  }

  set(choice: Settings['theme']): void {
    this.#choice = choice;
    this.#apply();
  }

  #apply(): void {
    const system = this.#system.matches ? 'light' : 'dark';
    document.documentElement.dataset.theme = this.#choice === 'light' || this.#choice === 'dark' ? this.#choice : system;
  }
}
