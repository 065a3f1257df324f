// Prints what a streamed delta and scrolling cost on the main thread, with few
// items and with 2,000: node gallery/bench.mjs
import { withGallery } from './browser.mjs';

const deltas = 240;

await withGallery(async (open) => {
  for (const items of [80, 2000]) {
    const page = await open('long');
    const cdp = await page.context().newCDPSession(page);
    // Time of the thread, not of the wall: other work on the machine does not count.
    await cdp.send('Performance.enable', { timeDomain: 'threadTicks' });
    const metrics = async () => {
      const { metrics } = await cdp.send('Performance.getMetrics');
      return Object.fromEntries(metrics.map((m) => [m.name, m.value * 1000]));
    };
    const measure = async (name, frames, work) => {
      const before = await metrics();
      await work();
      const after = await metrics();
      const per = (key) => ((after[key] - before[key]) / frames).toFixed(2);
      console.log(
        `${String(items).padStart(5)} items · ${name}: ${per('TaskDuration')} ms/frame ` +
          `(script ${per('ScriptDuration')}, style ${per('RecalcStyleDuration')}, layout ${per('LayoutDuration')})`,
      );
    };
    await page.evaluate(async (wanted) => {
      const { chat } = window.galleryApp;
      while (chat.transcript.entries.length < wanted && (await chat.loadOlder()));
      const scroller = document.querySelector('[role=log]');
      scroller.scrollTop = scroller.scrollHeight;
    }, items);
    await page.waitForTimeout(500);

    await measure('idle', deltas, () => page.evaluate(frames, { count: deltas, stream: false }));
    await measure('streaming text', deltas, () => page.evaluate(frames, { count: deltas, stream: true }));
    await measure('streaming a code block', deltas, () => page.evaluate(frames, { count: deltas, stream: true, code: true }));
    await measure('scrolling up, 120 px a frame', deltas, () =>
      page.evaluate(async (count) => {
        const scroller = document.querySelector('[role=log]');
        scroller.dispatchEvent(new WheelEvent('wheel', { deltaY: -1 }));
        for (let i = 0; i < count; i++) {
          scroller.scrollTop -= 120;
          await new Promise(requestAnimationFrame);
        }
      }, deltas),
    );
    await page.close();
  }
});

// One delta of about 24 bytes a frame, as a quick model sends them.
async function frames({ count, stream, code }) {
  const app = window.galleryApp;
  const turn = code ? 's.9001' : 's.9000';
  const item = `${turn}/000001`;
  const words = code ? '  const value = compute(1);\n' : 'and **some** words with `code` in them. ';
  const lead = code ? '```ts\n' : '';
  let offset = 0;
  for (let i = 0; i < count; i++) {
    if (stream) {
      const text = (i === 0 ? lead : '') + (i % 20 === 19 && !code ? '\n\n' : '') + words;
      app.events.emit([{ type: 'delta', sessionId: 's', delta: { turn, item, attempt: 1, channel: 'text', offset, text } }]);
      offset += text.length;
    }
    await new Promise(requestAnimationFrame);
  }
}
