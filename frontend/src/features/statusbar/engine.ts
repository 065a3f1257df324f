// The engine's state, in words for the status bar.
import type { EngineStatus } from '$lib/backend/types';

export type DotTone = 'ok' | 'busy' | 'bad';

export interface EngineWords {
  label: string;
  tone: DotTone;
  explain: string;
}

export function engineWords(engine: EngineStatus): EngineWords {
  switch (engine.state) {
    case 'starting':
      return { label: 'Engine starting', tone: 'busy', explain: 'Sessions can be read already. Messages are sent once it runs.' };
    case 'recovering':
      return {
        label: 'Recovering',
        tone: 'busy',
        explain: 'The app was closed while turns were under way. They go on by themselves.',
      };
    case 'running':
      return { label: 'Engine running', tone: 'ok', explain: 'This window runs the engine. Sessions go on when it is opened again.' };
    case 'attached':
      return engine.role === 'cluster'
        ? { label: 'Connected to a cluster', tone: 'ok', explain: 'Sessions run on a Temporal cluster and go on when this window is closed.' }
        : { label: 'Engine attached', tone: 'ok', explain: 'Another process of the app runs the engine. This window uses it.' };
    case 'failed':
      return {
        label: 'Engine failed',
        tone: 'bad',
        explain: 'Conversations can be read, but nothing can be sent until it runs again.',
      };
    default:
      return { label: engine.text || engine.state, tone: 'busy', explain: '' };
  }
}
