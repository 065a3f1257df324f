import { faultOf } from '$lib/backend/errors';
import type { Fault, KeyInfo } from '$lib/backend/types';
import type { App } from '$lib/state/app.svelte';

/** The keys as the program tells of them, and what changing one brings along. */
export class KeysStore {
  all = $state.raw<readonly KeyInfo[]>([]);
  loaded = $state(false);
  fault = $state.raw<Fault | null>(null);
  readonly #app: App;

  constructor(app: App) {
    this.#app = app;
  }

  async load(): Promise<void> {
    try {
      this.all = await this.#app.backend.keys();
      this.fault = null;
    } catch (err) {
      this.fault = faultOf(err);
    } finally {
      this.loaded = true;
    }
  }

  /** Rejects when the key can't be kept. */
  async set(name: string, value: string): Promise<void> {
    await this.#app.backend.setKey(name, value);
    await this.#changed();
  }

  /** Rejects when the key can't be deleted. */
  async delete(name: string): Promise<void> {
    await this.#app.backend.deleteKey(name);
    await this.#changed();
  }

  // A key decides which providers and backends can be used, and who answers.
  async #changed(): Promise<void> {
    await this.load();
    void this.#app.refreshDefaults();
    void this.#app.catalog.refreshProviders();
    void this.#app.catalog.refreshBackends();
  }
}
