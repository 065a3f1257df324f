import { afterEach, expect, test } from 'vitest';
import { onTop, topLayerChanged } from './overlay';

afterEach(() => document.body.replaceChildren());

function dialog(open: boolean): HTMLElement {
  const element = document.createElement('dialog');
  element.toggleAttribute('open', open);
  document.body.append(element);
  return element;
}

test('what must be reachable moves into the dialog opened last, and out before it goes', () => {
  const toasts = document.createElement('div');
  document.body.append(toasts);
  const { stop } = onTop(toasts);
  const first = dialog(true);
  const second = dialog(true);
  topLayerChanged();
  expect(toasts.parentElement).toBe(second);
  second.removeAttribute('open');
  topLayerChanged();
  expect(toasts.parentElement).toBe(first);
  first.removeAttribute('open');
  topLayerChanged();
  expect(toasts.parentElement).toBe(document.body);
  stop();
  dialog(true);
  topLayerChanged();
  expect(toasts.parentElement).toBe(document.body);
});
