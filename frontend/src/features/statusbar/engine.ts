// The engine's state, in words for the status bar.
import type { EngineStatus } from '$lib/backend/types';

export interface EngineWords {
  label: string;
  tone: 'ok' | 'busy' | 'bad';
  explain: string;
}

/** Words for what the program tells; it may be newer than this page. */
export function engineWords(engine: EngineStatus | null): EngineWords {
  switch (engine?.state) {
    case undefined:
    case 'starting':
      return {
        label: 'Engine starting',
        tone: 'busy',
        explain: 'Conversations can be read already. Messages go out once it runs.',
      };
    case 'recovering':
      return {
        label: 'Recovering',
        tone: 'busy',
        explain: 'The process that ran the engine has ended, or the engine failed. It is being opened again; turns that were under way go on by themselves.',
      };
    case 'running':
      return {
        label: 'Engine running',
        tone: 'ok',
        explain: 'This window runs the engine. When you close it, sessions wait, and go on when you open it again.',
      };
    case 'attached':
      return engine?.role === 'cluster'
        ? {
            label: 'On a cluster',
            tone: 'ok',
            explain: 'Sessions run on a Temporal cluster and go on when you close this window.',
          }
        : {
            label: 'Engine attached',
            tone: 'ok',
            explain: 'Another window or command of this app runs the engine. This window uses it.',
          };
    case 'failed':
      return {
        label: 'Engine failed',
        tone: 'bad',
        explain: 'Conversations can be read. Nothing can be sent until the engine runs again.',
      };
    default:
      // A state that this page does not know yet, or an engine that was closed.
      return { label: engine?.text || 'Engine closed', tone: 'bad', explain: '' };
  }
}

/** What the engine has to tell and was not dismissed, each once. */
export function unread(engine: EngineStatus | null, dismissed: readonly string[]): string[] {
  return [...new Set(engine?.notices ?? [])].filter((notice) => !dismissed.includes(notice));
}
