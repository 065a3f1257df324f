// How full the model's context is, and what a session has used.
import type { Session, Usage } from '$lib/backend/types';
import { cost, count } from '$lib/util/format';

export interface Meter {
  /** 0 to 1; null when the window's size is not known. */
  share: number | null;
  tone: 'plain' | 'warn' | 'bad';
  /** Beside the ring. */
  text: string;
  /** In words, for tooltips and screen readers. */
  explain: string;
}

/** From this share on, the older part is summed up soon. */
const nearly = 0.75;
const full = 0.92;

export function meter(contextTokens: number, window: number | undefined): Meter | null {
  if (contextTokens <= 0) return null;
  if (!window) {
    return {
      share: null,
      tone: 'plain',
      text: count(contextTokens),
      explain: `The last request had ${count(contextTokens)} tokens.`,
    };
  }
  const share = Math.min(1, contextTokens / window);
  const percent = Math.round(share * 100);
  return {
    share,
    tone: share >= full ? 'bad' : share >= nearly ? 'warn' : 'plain',
    text: `${percent} %`,
    explain: `${count(contextTokens)} of ${count(window)} tokens of context are used.`,
  };
}

/** All tokens that went in and out. */
export function totalTokens(usage: Usage): number {
  return usage.inputTokens + usage.outputTokens;
}

/** "18.4k tokens · $0.11"; '' when nothing was used. */
export function usageLine(session: Session): string {
  const total = totalTokens(session.usage);
  if (total === 0) return '';
  const price = priceText(session.usage);
  return `${count(total)} tokens${price ? ` · ${price}` : ''}`;
}

/** What is known of the price; '' when no call had a known one. */
export function priceText(usage: Usage): string {
  if (usage.costMicros === 0) return '';
  return usage.unpriced ? `${cost(usage.costMicros)} or more` : cost(usage.costMicros);
}
