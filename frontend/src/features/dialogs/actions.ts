// The commands of the palette, for the state that the window is in.
import ArrowDown from '@lucide/svelte/icons/arrow-down';
import ArrowUp from '@lucide/svelte/icons/arrow-up';
import Activity from '@lucide/svelte/icons/activity';
import ArrowLeftRight from '@lucide/svelte/icons/arrow-left-right';
import Camera from '@lucide/svelte/icons/camera';
import CircleStop from '@lucide/svelte/icons/circle-stop';
import Download from '@lucide/svelte/icons/download';
import FileDiff from '@lucide/svelte/icons/file-diff';
import FilePlus from '@lucide/svelte/icons/file-plus';
import FileText from '@lucide/svelte/icons/file-text';
import FolderOpen from '@lucide/svelte/icons/folder-open';
import GitFork from '@lucide/svelte/icons/git-fork';
import HardDrive from '@lucide/svelte/icons/hard-drive';
import History from '@lucide/svelte/icons/history';
import Import from '@lucide/svelte/icons/import';
import Inbox from '@lucide/svelte/icons/inbox';
import Info from '@lucide/svelte/icons/info';
import Keyboard from '@lucide/svelte/icons/keyboard';
import MessageSquare from '@lucide/svelte/icons/message-square';
import Monitor from '@lucide/svelte/icons/monitor';
import Moon from '@lucide/svelte/icons/moon';
import PanelLeft from '@lucide/svelte/icons/panel-left';
import PanelRight from '@lucide/svelte/icons/panel-right';
import Plus from '@lucide/svelte/icons/plus';
import Power from '@lucide/svelte/icons/power';
import RotateCcw from '@lucide/svelte/icons/rotate-ccw';
import Search from '@lucide/svelte/icons/search';
import Settings from '@lucide/svelte/icons/settings';
import Shield from '@lucide/svelte/icons/shield';
import Stethoscope from '@lucide/svelte/icons/stethoscope';
import Sun from '@lucide/svelte/icons/sun';
import Trash from '@lucide/svelte/icons/trash-2';
import ZoomIn from '@lucide/svelte/icons/zoom-in';
import ZoomOut from '@lucide/svelte/icons/zoom-out';
import { MODES, isDangerous } from '$features/permissions/modes';
import type { Session } from '$lib/backend/types';
import type { App } from '$lib/state/app.svelte';
import { exportAs } from '$lib/state/branch/actions';
import { isBusy } from '$lib/state/sessions';
import type { PaletteItem } from './palette';

type Action = Omit<PaletteItem, 'id' | 'group'>;

/** Everything that can be done now, then the sessions, the last used first. */
export function paletteItems(app: App): PaletteItem[] {
  const session = app.sessions.selected;
  const actions = [...(session ? sessionActions(app, session) : []), ...windowActions(app)];
  const sessions = [...app.sessions.all].sort((a, b) => b.updated.localeCompare(a.updated));
  return [
    ...actions.map((action): PaletteItem => ({ ...action, id: `command:${action.label}`, group: 'Commands' })),
    ...sessions.map((other): PaletteItem => ({
      id: `session:${other.id}`,
      group: 'Sessions',
      label: other.title || 'New session',
      detail: other.backend,
      icon: MessageSquare,
      run: () => app.select(other.id),
    })),
  ];
}

function windowActions(app: App): Action[] {
  const settings = (section: string) => () => app.ui.open({ kind: 'settings', section });
  const theme = (value: 'dark' | 'light' | 'system') => () =>
    void app.saveSettings({ theme: value }).catch((err: unknown) => app.ui.fail(err));
  return [
    { label: 'New session…', kbd: 'Ctrl N', icon: Plus, run: () => app.run('new-session') },
    {
      label: 'New session with the defaults',
      icon: Plus,
      run: () => void app.create(app.defaultRequest()).catch((err: unknown) => app.ui.fail(err)),
    },
    { label: 'Import a session…', icon: Import, also: 'open tsa file backup', run: () => app.run('import') },
    { label: 'Search sessions', kbd: 'Ctrl K', icon: Search, run: () => app.run('search') },
    { label: 'What needs you', kbd: 'Ctrl I', icon: Inbox, also: 'inbox approvals', run: () => app.run('inbox') },
    { label: 'Show or hide the sessions', kbd: 'Ctrl B', icon: PanelLeft, also: 'sidebar toggle', run: () => app.run('toggle-sidebar') },
    { label: 'Settings', kbd: 'Ctrl ,', icon: Settings, also: 'preferences', run: () => app.run('settings') },
    { label: 'Settings: models and keys', icon: Settings, also: 'api key provider endpoint ollama', run: settings('models') },
    { label: 'Settings: backends', icon: Settings, also: 'docker e2b daytona', run: settings('backends') },
    { label: 'Settings: data and privacy', icon: Settings, also: 'tracing doctor', run: settings('data') },
    { label: 'Size of the store', icon: HardDrive, also: 'disk space clean check damage snapshots', run: () => app.ui.open({ kind: 'settings', section: 'data', field: 'store' }) },
    { label: 'Theme: dark', icon: Moon, run: theme('dark') },
    { label: 'Theme: light', icon: Sun, run: theme('light') },
    { label: 'Theme: as the system', icon: Monitor, run: theme('system') },
    {
      label: 'Open the Temporal Web UI',
      icon: Activity,
      also: 'workflow history debug',
      run: () => app.run('web-ui'),
    },
    { label: 'Keys and commands', kbd: '?', icon: Keyboard, also: 'keyboard shortcuts help', run: () => app.run('shortcuts') },
    { label: 'About', icon: Info, also: 'version licence', run: () => app.run('about') },
    { label: 'Check this computer', icon: Stethoscope, also: 'doctor report problems diagnose', run: () => app.run('doctor') },
    { label: 'Next session', kbd: 'Alt ↓', icon: ArrowDown, run: () => app.run('next-session') },
    { label: 'Previous session', kbd: 'Alt ↑', icon: ArrowUp, run: () => app.run('previous-session') },
    { label: 'Text: larger', kbd: 'Ctrl +', icon: ZoomIn, also: 'zoom in size font', run: () => app.run('larger') },
    { label: 'Text: smaller', kbd: 'Ctrl −', icon: ZoomOut, also: 'zoom out size font', run: () => app.run('smaller') },
    { label: 'Text: usual size', kbd: 'Ctrl 0', icon: ZoomIn, also: 'zoom reset font', run: () => app.run('usual-size') },
    {
      label: 'Quit',
      kbd: 'Ctrl Q',
      icon: Power,
      also: 'exit close',
      run: () => app.run('quit'),
    },
  ];
}

function sessionActions(app: App, session: Session): Action[] {
  const { id } = session;
  const actions: Action[] = [];
  if (isBusy(session)) actions.push({ label: 'Stop the turn', kbd: 'Esc Esc', icon: CircleStop, run: () => app.run('stop') });
  if (session.state === 'failed') actions.push({ label: 'Try the turn again', icon: RotateCcw, also: 'retry', run: () => void app.retryTurn(id) });
  actions.push({
    label: 'Show or hide the workspace',
    kbd: 'Ctrl J',
    icon: PanelRight,
    also: 'files toggle pane',
    run: () => app.run('toggle-workspace'),
  });
  actions.push(
    { label: 'Fork this session…', kbd: 'Ctrl ⇧ F', icon: GitFork, also: 'branch copy duplicate', run: () => app.run('fork') },
    { label: 'New session from these files…', icon: FilePlus, also: 'fork snapshot without conversation', run: () => app.ui.open({ kind: 'fork', session: id, filesOnly: true }) },
  );
  if (!session.moving) {
    actions.push({ label: 'Switch backend…', kbd: 'Ctrl ⇧ S', icon: ArrowLeftRight, also: 'move another docker local', run: () => app.run('switch') });
  }
  if (session.turns > 0) {
    actions.push({ label: 'Rewind…', icon: History, also: 'undo go back turn', run: () => app.ui.open({ kind: 'rewind', session: id }) });
  }
  actions.push(
    { label: 'Show what has changed', kbd: 'Ctrl ⇧ C', icon: FileDiff, also: 'diff changes files', run: () => app.run('changes') },
    { label: 'Snapshots of this session…', icon: Camera, also: 'exclude leave out capture', run: () => app.ui.open({ kind: 'snapshots', session: id }) },
    { label: 'Export this session…', icon: Download, also: 'save backup tsa', run: () => void exportAs(app, id, 'session') },
    { label: 'Export as Markdown…', icon: FileText, also: 'save conversation', run: () => void exportAs(app, id, 'markdown') },
  );
  if (session.workspace && session.backend === 'local') {
    actions.push({
      label: 'Open the folder in the file manager',
      icon: FolderOpen,
      also: 'workspace reveal',
      run: () => void app.backend.openExternal(id, '').catch((err: unknown) => app.ui.fail(err)),
    });
  }
  for (const mode of MODES) {
    // Never asking where nothing is confined is asked about in the header.
    if (mode.value === session.options.approve || isDangerous(mode.value, session.confined)) continue;
    actions.push({
      label: `Permissions: ${mode.label.toLocaleLowerCase()}`,
      icon: Shield,
      also: 'approval mode',
      run: () => void app.setOptions(id, { approve: mode.value }),
    });
  }
  actions.push(
    { label: 'Done with this session…', icon: Power, also: 'close keep finish', run: () => app.ui.open({ kind: 'done', session: id }) },
    { label: 'Destroy this session…', icon: Trash, also: 'delete remove', run: () => app.ui.open({ kind: 'destroy', session: id }) },
  );
  return actions;
}
