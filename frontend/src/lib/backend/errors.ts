import type { Fault } from './types';

/** What every call of the backend rejects with. */
export class BackendError extends Error {
  readonly fault: Fault;

  constructor(fault: Fault) {
    super(fault.happened);
    this.name = 'BackendError';
    this.fault = fault;
  }
}

function isFault(value: unknown): value is Fault {
  return (
    typeof value === 'object' &&
    value !== null &&
    typeof (value as Fault).happened === 'string' &&
    typeof (value as Fault).class === 'string'
  );
}

/** Makes a Fault of whatever was thrown, so that it can be shown. */
export function faultOf(err: unknown): Fault {
  if (err instanceof BackendError) return err.fault;
  if (isFault(err)) return err;
  const text = err instanceof Error ? err.message : String(err);
  try {
    const parsed: unknown = JSON.parse(text);
    if (isFault(parsed)) return parsed;
  } catch {
    // Not JSON: an error of the bridge or of ours.
  }
  return { class: 'internal', happened: text || 'Something failed without saying why.' };
}
