// What jsdom lacks and the page needs.
window.matchMedia ??= (query: string) =>
  ({ matches: false, media: query, addEventListener() {}, removeEventListener() {} }) as unknown as MediaQueryList;
URL.createObjectURL ??= () => 'blob:test';
URL.revokeObjectURL ??= () => {};
