import type { App } from '$lib/state/app.svelte';

/** Streams a text into an item, a few characters a frame, and writes it at the end. */
export function stream(app: App, item: string, text: string, perFrame: number): void {
  const turn = item.slice(0, item.lastIndexOf('/'));
  const encoder = new TextEncoder();
  let at = 0;
  let bytes = 0;
  const step = () => {
    const piece = text.slice(at, at + perFrame);
    if (piece === '') {
      const head = { id: item, turn, seq: Number(item.slice(-6)), time: new Date().toISOString() };
      app.events.emit([{ type: 'item', sessionId: 's', item: { ...head, kind: 'assistant', assistant: { text } } }]);
      return;
    }
    app.events.emit([{ type: 'delta', sessionId: 's', delta: { turn, item, attempt: 1, channel: 'text', offset: bytes, text: piece } }]);
    at += piece.length;
    bytes += encoder.encode(piece).length;
    requestAnimationFrame(step);
  };
  step();
}
