// A card that takes the focus by itself may take it between two keys of a
// reader who is typing. What was meant for the message must not run a command.

/** How long keys run nothing after the focus came by itself, in ms. */
export const GUARD = 500;

export class FocusGuard {
  #until = -Infinity;

  /** The card took the focus by itself. */
  took(now: number): void {
    this.#until = now + GUARD;
  }

  /** The reader came here: with Tab or with the pointer. */
  lift(): void {
    this.#until = -Infinity;
  }

  holds(now: number): boolean {
    return now < this.#until;
  }

  /** What becomes of a key on one of the card's buttons. */
  key(event: Pick<KeyboardEvent, 'key' | 'repeat'>, isPrintable: boolean, now: number): 'run' | 'drop' | 'write' {
    const held = this.holds(now);
    if (event.key === 'Tab') this.lift();
    if (event.key === ' ') return held ? 'write' : event.repeat ? 'drop' : 'run';
    if (event.key === 'Enter') return held || event.repeat ? 'drop' : 'run';
    return isPrintable ? 'write' : 'run';
  }
}
