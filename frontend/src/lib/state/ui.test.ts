import { expect, test } from 'vitest';
import { UiStore } from './ui.svelte';

test('a dialog that opens another is there again when that one closes', () => {
  const ui = new UiStore();
  ui.open({ kind: 'new-session' });
  const form = ui.dialog;
  ui.open({ kind: 'settings', section: 'models' });
  expect(ui.dialog?.kind).toBe('settings');
  ui.close();
  expect(ui.dialog).toBe(form);
  ui.close();
  expect(ui.dialog).toBeNull();
  ui.close();
  expect(ui.dialogs).toEqual([]);
});

test('a dialog that ends below another leaves that one open', () => {
  const ui = new UiStore();
  ui.open({ kind: 'new-session' });
  const form = ui.dialog;
  ui.open({ kind: 'settings' });
  ui.close(form);
  ui.close(form);
  expect(ui.dialogs).toEqual([{ kind: 'settings' }]);
});

test('there is one dialog of a kind', () => {
  const ui = new UiStore();
  ui.open({ kind: 'settings', section: 'models' });
  ui.open({ kind: 'about' });
  ui.open({ kind: 'settings', section: 'data' });
  expect(ui.dialogs).toEqual([{ kind: 'settings', section: 'data' }]);
});
