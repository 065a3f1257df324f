import { mount } from 'svelte';
import { App } from '$lib/state/app.svelte';
import Root from '../src/App.svelte';
import '../src/styles/tokens.css';
import '../src/styles/base.css';
import '../src/styles/markdown.css';
import { branches } from './branch';
import { panes } from './panes';
import { scenes as conversations } from './scenes';

const scenes = { ...conversations, ...panes, ...branches };
const params = new URLSearchParams(location.search);
const name = params.get('scene') ?? '';
const make = scenes[name];
const target = document.getElementById('app');
if (!target) throw new Error('no #app');

if (!make) {
  document.body.style.overflow = 'auto';
  for (const scene of Object.keys(scenes)) {
    for (const theme of ['dark', 'light']) {
      const link = document.createElement('a');
      link.href = `?scene=${scene}&theme=${theme}`;
      link.textContent = `${scene} · ${theme}`;
      link.style.cssText = 'display:block;padding:2px 12px';
      target.append(link);
    }
  }
} else {
  const theme = params.get('theme') === 'light' ? 'light' : 'dark';
  const scene = make(theme);
  const app = new App(scene.backend);
  mount(Root, { target, props: { app } });
  await app.start();
  scene.after?.(app);
  // For the scripts that look at and measure the page.
  Object.assign(window, { galleryApp: app, galleryScene: scene });
}
