// The menu of the window: all that has no other button that is always seen.
import Activity from '@lucide/svelte/icons/activity';
import Command from '@lucide/svelte/icons/command';
import Import from '@lucide/svelte/icons/import';
import Info from '@lucide/svelte/icons/info';
import Keyboard from '@lucide/svelte/icons/keyboard';
import Plus from '@lucide/svelte/icons/plus';
import Power from '@lucide/svelte/icons/power';
import Search from '@lucide/svelte/icons/search';
import Settings from '@lucide/svelte/icons/settings';
import Stethoscope from '@lucide/svelte/icons/stethoscope';
import type { MenuEntry } from '$lib/components/menu';
import type { Command as Name } from '$lib/state/ui.svelte';

export function appMenu(run: (command: Name) => void): MenuEntry[] {
  const does = (command: Name) => ({ onselect: () => run(command) });
  return [
    { label: 'New session…', icon: Plus, kbd: 'Ctrl N', ...does('new-session') },
    { label: 'Search sessions', icon: Search, kbd: 'Ctrl K', ...does('search') },
    { label: 'Command palette', icon: Command, kbd: 'Ctrl ⇧ P', ...does('palette') },
    { label: 'Import a session…', icon: Import, ...does('import') },
    'separator',
    { label: 'Settings', icon: Settings, kbd: 'Ctrl ,', ...does('settings') },
    { label: 'Temporal Web UI', icon: Activity, ...does('web-ui') },
    { label: 'Check this computer', icon: Stethoscope, ...does('doctor') },
    'separator',
    { label: 'Keys and commands', icon: Keyboard, kbd: '?', ...does('shortcuts') },
    { label: 'About', icon: Info, ...does('about') },
    { label: 'Quit', icon: Power, kbd: 'Ctrl Q', ...does('quit') },
  ];
}
