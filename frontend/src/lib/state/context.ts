import { getContext, setContext } from 'svelte';
import type { App } from './app.svelte';

const key = Symbol('app');

export function setApp(app: App): App {
  return setContext(key, app);
}

/** The App of this page: call it while a component is made. */
export function getApp(): App {
  return getContext<App>(key);
}
