// Takes pictures of scenes: node gallery/shoot.mjs <out> scene[:wait-ms]… [--size=1440x900]… [--theme=dark]…
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { withGallery } from './browser.mjs';

const [out, ...rest] = process.argv.slice(2);
const option = (name) => rest.filter((a) => a.startsWith(`--${name}=`)).map((a) => a.slice(name.length + 3));
const names = rest.filter((a) => !a.startsWith('--'));
const sizes = option('size').length ? option('size') : ['1440x900'];
const themes = option('theme').length ? option('theme') : ['dark', 'light'];
mkdirSync(out, { recursive: true });

await withGallery(async (open) => {
  for (const name of names) {
    const [scene, wait = '600'] = name.split(':');
    for (const size of sizes) {
      const [width, height] = size.split('x').map(Number);
      for (const theme of themes) {
        const page = await open(scene, { width, height, theme });
        await page.waitForTimeout(Number(wait));
        await page.screenshot({ path: join(out, `${scene}-${theme}-${size}.png`) });
        await page.close();
      }
    }
  }
});
