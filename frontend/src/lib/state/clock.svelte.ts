import { createSubscriber } from 'svelte/reactivity';

/**
 * The time, growing by a step while something reads it. No timer runs when
 * nothing does.
 */
export class Clock {
  readonly #subscribe: () => void;

  constructor(stepMs = 1000) {
    this.#subscribe = createSubscriber((update) => {
      const timer = setInterval(update, stepMs);
      return () => clearInterval(timer);
    });
  }

  get now(): number {
    this.#subscribe();
    return Date.now();
  }
}
