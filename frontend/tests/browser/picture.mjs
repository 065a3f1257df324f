// Takes the picture of README from the real app: node tests/browser/picture.mjs FILE
// (TSA_DEV_BIN as for the tests). The conversation is the demo's tour.
import { App, patience } from './app.mjs';

const out = process.argv[2];
if (!out) throw new Error('which file?');
const app = await App.start();
const { page } = app;

async function named(title, text, ended) {
  await app.newSession(title);
  await app.send(text);
  await ended();
}

const turn = () => app.turns(1);
const question = () => app.chat.getByRole('button', { name: /^Allow once/ }).waitFor({ timeout: patience });

try {
  await named('Shopping list', 'create list.md with # Shopping', turn);
  await named('What can you do?', 'help', turn);
  await named('Which system is this?', 'run uname -a', turn);
  await named('Start a repository', 'run git init site', question);
  await named('A tour of the app', 'tour', question);
  await page.getByRole('button', { name: /^Allow once/ }).click();
  const edit = app.chat.getByRole('button').filter({ hasText: 'Edit' }).filter({ hasText: 'greet.sh' });
  await edit.waitFor({ timeout: patience });
  await question();
  await page.keyboard.press('Control+,');
  const settings = page.getByRole('dialog', { name: /Settings/ });
  await settings.getByText('Appearance', { exact: true }).first().click();
  await settings.getByText('Light', { exact: true }).first().click();
  await page.keyboard.press('Escape');
  await page.getByRole('treeitem', { name: /^tour/ }).click();
  await page.getByRole('treeitem', { name: /greet\.sh/ }).click();
  await page.locator('.cm-content').getByText('name=').first().waitFor({ timeout: patience });
  await edit.click();
  await app.chat.getByRole('button', { name: /^Allow once/ }).focus();
  await page.mouse.move(720, 880);
  await page.waitForTimeout(1000);
  await page.screenshot({ path: out, animations: 'disabled' });
} finally {
  await app.stop();
}
