/**
 * What the user has opened or closed, by key. Rows of a virtual list come and
 * go; this stays.
 */
export class Disclosure {
  #open = $state.raw<ReadonlyMap<string, boolean>>(new Map());

  isOpen(key: string, otherwise = false): boolean {
    return this.#open.get(key) ?? otherwise;
  }

  set(key: string, open: boolean): void {
    if (this.#open.get(key) === open) return;
    this.#open = new Map(this.#open).set(key, open);
  }

  toggle(key: string, otherwise = false): void {
    this.set(key, !this.isOpen(key, otherwise));
  }
}
