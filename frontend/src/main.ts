import { mount } from 'svelte';
import { wails } from '$lib/backend/wails';
import { App } from '$lib/state/app.svelte';
import Root from './App.svelte';
import './styles/tokens.css';
import './styles/base.css';
import './styles/markdown.css';

const app = new App(wails);
const target = document.getElementById('app');
if (!target) throw new Error('index.html has no #app');
mount(Root, { target, props: { app } });
void app.start();
