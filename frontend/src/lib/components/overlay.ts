import type { Attachment } from 'svelte/attachments';

/**
 * Where floating things of an element belong: the open dialog around it (only
 * its content is above the page), else the body.
 */
export function layer(element: Element): HTMLElement {
  return element.closest('dialog') ?? document.body;
}

const topChanged = 'top-layer-changed';

/** A modal dialog opened or closed. */
export function topLayerChanged(): void {
  document.dispatchEvent(new Event(topChanged));
}

/**
 * Keeps a popover (popover="manual") above all: in the modal dialog opened
 * last, since everything outside of it is inert. Call the result to put it
 * above what was opened since; it is hidden when it is empty.
 */
export function onTop(element: HTMLElement): { lift: () => void; stop: () => void } {
  const lift = () => {
    const home = [...document.querySelectorAll('dialog[open]')].at(-1) ?? document.body;
    if (element.parentElement !== home) home.append(element);
    // An older WebKit knows no popovers: there it lies in the dialog.
    if (element.matches('[popover]') && 'showPopover' in element) {
      element.hidePopover();
      if (element.childElementCount > 0) element.showPopover();
    }
  };
  document.addEventListener(topChanged, lift);
  return { lift, stop: () => document.removeEventListener(topChanged, lift) };
}

export interface Box {
  left: number;
  right: number;
  top: number;
  bottom: number;
}

export type Align = 'start' | 'center' | 'end';

const gap = 6;
const edge = 8;

/** Puts a fixed element below a box, or above it when there is more room. */
export function place(element: HTMLElement, box: Box, align: Align): void {
  const { offsetWidth: width, offsetHeight: height } = element;
  const below = window.innerHeight - box.bottom - gap - edge;
  const above = box.top - gap - edge;
  const under = height <= below || below >= above;
  const top = under ? box.bottom + gap : box.top - gap - height;
  let left = box.left;
  if (align === 'center') left = (box.left + box.right - width) / 2;
  if (align === 'end') left = box.right - width;
  left = Math.max(edge, Math.min(left, window.innerWidth - width - edge));
  element.style.left = `${Math.round(left)}px`;
  element.style.top = `${Math.round(Math.max(edge, top))}px`;
}

/** Moves an element to the layer of an anchor, so that nothing clips it. */
export function portal(anchor: () => Element | null | undefined): Attachment<HTMLElement> {
  return (element) => {
    const from = anchor();
    (from ? layer(from) : document.body).append(element);
    return () => element.remove();
  };
}
