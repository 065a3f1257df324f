import { faultOf } from '$lib/backend/errors';
import type { Fault, ProviderInfo } from '$lib/backend/types';
import type { App } from '$lib/state/app.svelte';

/** What the first-run card does: take a key or a found server, and go on with it. */
export class KeySetup {
  busy = $state(false);
  fault = $state.raw<Fault | null>(null);
  readonly #app: App;

  constructor(app: App) {
    this.#app = app;
  }

  /** Keeps an OpenAI key, tries it, and makes it the default. True when it works. */
  useKey(key: string): Promise<boolean> {
    return this.#run(async () => {
      await this.#app.backend.setKey('OPENAI_API_KEY', key);
      const result = await this.#app.backend.testProvider('openai');
      if (!result.ok) {
        // A key that does not work would make every turn fail: do not keep it.
        await this.#app.backend.deleteKey('OPENAI_API_KEY');
        this.fault = { class: 'bad_key', happened: result.text, remedy: 'The key was not kept. Check it and try again.' };
        return false;
      }
      await this.#app.saveSettings({ provider: 'openai', model: '', firstRunDone: true });
      await this.#refresh();
      return true;
    });
  }

  /** Makes a server that was found on this computer the default. */
  useServer(provider: ProviderInfo): Promise<boolean> {
    return this.#run(async () => {
      const model = provider.default ?? provider.models?.[0]?.id ?? '';
      await this.#app.saveSettings({ provider: provider.name, model, firstRunDone: true });
      await this.#refresh();
      return true;
    });
  }

  keepDemo(): Promise<boolean> {
    return this.#run(async () => {
      await this.#app.saveSettings({ firstRunDone: true });
      return true;
    });
  }

  async #refresh(): Promise<void> {
    await Promise.all([this.#app.refreshDefaults(), this.#app.catalog.refreshProviders()]);
  }

  async #run(task: () => Promise<boolean>): Promise<boolean> {
    this.busy = true;
    this.fault = null;
    try {
      return await task();
    } catch (err) {
      this.fault = faultOf(err);
      return false;
    } finally {
      this.busy = false;
    }
  }
}
