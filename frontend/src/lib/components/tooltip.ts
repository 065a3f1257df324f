import type { Attachment } from 'svelte/attachments';
import { keyLabel } from '$lib/util/keys';
import { layer, place } from './overlay';

export interface Tip {
  text: string;
  kbd?: string;
}

const delay = 450;

/**
 * Shows a tooltip for an element on hover and on keyboard focus. The text is
 * read when it opens. Name the element for screen readers yourself: a tooltip
 * is for the eye.
 */
export function tooltip(read: () => Tip | string | null): Attachment<HTMLElement> {
  return (element) => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let tip: HTMLElement | undefined;

    const hide = () => {
      clearTimeout(timer);
      tip?.remove();
      tip = undefined;
    };

    const show = () => {
      const value = read();
      if (!value || tip || !element.isConnected) return;
      const { text, kbd } = typeof value === 'string' ? { text: value, kbd: '' } : value;
      if (!text) return;
      tip = document.createElement('div');
      tip.className = 'tooltip';
      tip.setAttribute('role', 'tooltip');
      tip.append(text);
      if (kbd) {
        const key = document.createElement('kbd');
        key.textContent = keyLabel(kbd);
        tip.append(key);
      }
      layer(element).append(tip);
      place(tip, element.getBoundingClientRect(), 'center');
    };

    const wait = () => {
      clearTimeout(timer);
      timer = setTimeout(show, delay);
    };
    const focus = () => {
      if (element.matches(':focus-visible')) wait();
    };

    element.addEventListener('pointerenter', wait);
    element.addEventListener('pointerleave', hide);
    element.addEventListener('pointerdown', hide);
    element.addEventListener('keydown', hide);
    element.addEventListener('focus', focus);
    element.addEventListener('blur', hide);
    return () => {
      hide();
      element.removeEventListener('pointerenter', wait);
      element.removeEventListener('pointerleave', hide);
      element.removeEventListener('pointerdown', hide);
      element.removeEventListener('keydown', hide);
      element.removeEventListener('focus', focus);
      element.removeEventListener('blur', hide);
    };
  };
}
