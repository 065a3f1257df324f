// @vitest-environment node
import { describe, expect, it } from 'vitest';
import { FIELDS, SECTIONS, search } from './search';

describe('search in settings', () => {
  it('shows everything when nothing is typed', () => {
    expect(search('  ').fields).toBeNull();
    expect(search('').sections).toEqual(SECTIONS.map((section) => section.id));
  });

  it('finds by label, by other words and by section', () => {
    expect([...search('theme').fields!]).toEqual(['theme']);
    expect([...search('ollama').fields!]).toEqual(['local']);
    expect([...search('privacy').fields!]).toEqual(['data-dir', 'store', 'trace', 'web-ui', 'doctor']);
  });

  it('needs every word and matches beginnings of words only', () => {
    expect([...search('api token').fields!]).toEqual(['keys']);
    expect(search('heme').fields!.size).toBe(0);
    expect(search('heme').sections).toEqual([]);
  });

  it('counts per section', () => {
    const found = search('key');
    expect(found.counts).toEqual({ models: 1 });
    expect(found.sections).toEqual(['models']);
  });

  it('gives every section a field and every field its own id', () => {
    expect(new Set(FIELDS.map((field) => field.id)).size).toBe(FIELDS.length);
    for (const section of SECTIONS) expect(FIELDS.some((field) => field.section === section.id)).toBe(true);
  });
});
