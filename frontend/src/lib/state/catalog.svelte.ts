import type { Backend } from '$lib/backend/backend';
import { faultOf } from '$lib/backend/errors';
import type { BackendInfo, Fault, ModelInfo, ProviderInfo } from '$lib/backend/types';

/**
 * What can be chosen: backends and providers with their models. Probing takes
 * time, so both are read when something first shows them, and again on refresh.
 */
export class CatalogStore {
  backends = $state.raw<readonly BackendInfo[]>([]);
  providers = $state.raw<readonly ProviderInfo[]>([]);
  /** Models by provider, where they were asked for. */
  models = $state.raw<Readonly<Record<string, readonly ModelInfo[]>>>({});
  /** Why the models of a provider could not be listed. */
  modelFaults = $state.raw<Readonly<Record<string, Fault>>>({});
  /** The Docker images of this machine, where they were asked for. */
  images = $state.raw<readonly string[]>([]);
  loadingBackends = $state(false);
  loadingProviders = $state(false);
  fault = $state.raw<Fault | null>(null);
  #ensured = false;
  readonly #backend: Backend;

  constructor(backend: Backend) {
    this.#backend = backend;
  }

  /** Reads both lists if nobody did yet. */
  ensure(): void {
    if (this.#ensured) return;
    this.#ensured = true;
    if (this.backends.length === 0) void this.refreshBackends();
    if (this.providers.length === 0) void this.refreshProviders();
  }

  async refreshBackends(): Promise<void> {
    if (this.loadingBackends) return;
    this.loadingBackends = true;
    try {
      this.backends = await this.#backend.backends();
      this.fault = null;
    } catch (err) {
      this.fault = faultOf(err);
    } finally {
      this.loadingBackends = false;
    }
  }

  /** Reads the images of this machine. Only a help for typing: without them one can type all the same. */
  async loadImages(): Promise<void> {
    try {
      this.images = await this.#backend.localImages();
    } catch {
      this.images = [];
    }
  }

  async refreshProviders(): Promise<void> {
    if (this.loadingProviders) return;
    this.loadingProviders = true;
    try {
      this.providers = await this.#backend.providers();
      this.fault = null;
      await Promise.all(this.providers.filter((p) => p.available && !p.models?.length).map((p) => this.#tryModels(p.name)));
    } catch (err) {
      this.fault = faultOf(err);
    } finally {
      this.loadingProviders = false;
    }
  }

  /** Reads the models of a provider; rejects with why they can't be listed. */
  async loadModels(provider: string): Promise<readonly ModelInfo[]> {
    const models = await this.#backend.models(provider);
    this.models = { ...this.models, [provider]: models };
    return models;
  }

  async #tryModels(provider: string): Promise<void> {
    let fault: Fault | undefined;
    try {
      await this.loadModels(provider);
    } catch (err) {
      fault = faultOf(err);
    }
    const { [provider]: _, ...others } = this.modelFaults;
    this.modelFaults = fault ? { ...others, [provider]: fault } : others;
  }

  backend(name: string): BackendInfo | undefined {
    return this.backends.find((b) => b.name === name);
  }

  provider(name: string): ProviderInfo | undefined {
    return this.providers.find((p) => p.name === name);
  }
}
