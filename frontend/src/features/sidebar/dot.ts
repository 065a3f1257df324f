import type { Session } from '$lib/backend/types';
import { movingWords } from '$lib/state/branch/words';

export interface StateDot {
  tone: 'busy' | 'warn' | 'idle' | 'bad' | 'hollow';
  label: string;
}

/** What a session is doing, as a dot and in words. */
export function stateDot(session: Session, unavailable: boolean): StateDot {
  if (session.moving && !session.moving.waits) return { tone: 'busy', label: movingWords(session.moving) };
  switch (session.state) {
    case 'working':
      return { tone: 'busy', label: 'Working' };
    case 'waiting':
      return { tone: 'busy', label: session.retry?.reason ? `Waits: ${session.retry.reason}` : 'Waits to try again' };
    case 'needs_you':
      return { tone: 'warn', label: 'Waits for your answer' };
    case 'failed':
      return { tone: 'bad', label: 'The last turn failed' };
    default:
      return unavailable ? { tone: 'hollow', label: 'Its backend is not available' } : { tone: 'idle', label: 'Idle' };
  }
}
