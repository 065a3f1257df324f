// The approval modes, in words.
import type { ApprovalMode } from '$lib/backend/types';

export interface Mode {
  value: ApprovalMode;
  label: string;
  explain: string;
}

export const MODES: readonly Mode[] = [
  { value: 'ask', label: 'Ask always', explain: 'Asks before every command and every change.' },
  { value: 'auto', label: 'Ask for risky', explain: 'Reading, harmless commands and edits inside the folder run at once. Everything else asks.' },
  { value: 'never', label: 'Never ask', explain: 'Everything runs at once, without a question.' },
];

export function modeOf(value: ApprovalMode): Mode {
  return MODES.find((mode) => mode.value === value) ?? MODES[1]!;
}

/** Never asking where nothing keeps commands inside the workspace. */
export function isDangerous(mode: ApprovalMode, confined: boolean): boolean {
  return mode === 'never' && !confined;
}

export const DANGER = 'Commands can change or delete anything that you can, outside the folder too.';

/** What a mode means where the commands run. */
export function explain(mode: ApprovalMode, confined: boolean): string {
  const words = modeOf(mode).explain;
  if (mode !== 'never') return words;
  return confined ? `${words} Commands stay inside the sandbox.` : `${words} ${DANGER}`;
}
