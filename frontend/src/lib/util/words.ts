// Finding things by what is typed.

/** Splits a query into words; all of them must be found, in any order. */
export function words(query: string): string[] {
  return query.toLocaleLowerCase().split(/\s+/).filter(Boolean);
}

/** Tells whether every word is somewhere in the texts. */
export function matches(wanted: readonly string[], ...texts: (string | undefined)[]): boolean {
  const text = texts.filter(Boolean).join('\n').toLocaleLowerCase();
  return wanted.every((word) => text.includes(word));
}

/** Puts statements one after the other, each with an end: "No key is set. Add one." */
export function sentences(...parts: (string | undefined)[]): string {
  return parts
    .map((part) => part?.trim() ?? '')
    .filter(Boolean)
    .map((part) => (/[.!?…:]$/.test(part) ? part : `${part}.`))
    .join(' ');
}

/** "(2) Temporal Sandbox Agent": how many sessions need the user. */
export function windowTitle(waiting: number): string {
  return `${waiting > 0 ? `(${waiting}) ` : ''}Temporal Sandbox Agent`;
}
