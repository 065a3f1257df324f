// Numbers and times in words, the same everywhere. Go's zero time stands for
// "not set".

const zeroTime = '0001-01-01T00:00:00Z';

/** Milliseconds since 1970 of a time from Go; null when it is not set. */
export function timeOf(text: string | undefined | null): number | null {
  if (!text || text === zeroTime) return null;
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? null : ms;
}

/** "0.4 s", "12 s", "1 m 12 s", "2 h 5 m". */
export function duration(ms: number): string {
  const total = Math.max(0, ms) / 1000;
  if (total < 0.1) return `${Math.round(total * 1000)} ms`;
  if (total < 9.95) return `${total.toFixed(1)} s`;
  const seconds = Math.round(total);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} m ${seconds % 60} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} m`;
}

/** Whole seconds for clocks that run: "4 s", "1 m 12 s". */
export function clock(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  return seconds < 60 ? `${seconds} s` : duration(seconds * 1000);
}

/** "950", "18.4k", "1.2M". */
export function count(n: number): string {
  if (n < 1000) return String(n);
  if (n < 999_950) return `${trim((n / 1000).toFixed(1))}k`;
  return `${trim((n / 1_000_000).toFixed(1))}M`;
}

/** "1 file", "3 files"; 1,234 with its comma. */
export function plural(n: number, one: string, many = `${one}s`): string {
  return `${n.toLocaleString('en')} ${n === 1 ? one : many}`;
}

/** "512 B", "1.2 kB", "100 MB". */
export function bytes(n: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  let value = n;
  let unit = 0;
  while (value >= 999.5 && unit < units.length - 1) {
    value /= 1000;
    unit++;
  }
  return `${unit === 0 || value >= 99.95 ? Math.round(value) : trim(value.toFixed(1))} ${units[unit]}`;
}

/** "$0.11", "under $0.01"; micros are millionths of a dollar. */
export function cost(micros: number): string {
  const dollars = micros / 1_000_000;
  if (dollars > 0 && dollars < 0.01) return 'under $0.01';
  return `$${dollars.toFixed(2)}`;
}

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

/** "now", "5 min ago", "3 h ago", else the date ("12 Mar", with the year if it is another). */
export function ago(time: number, now: number): string {
  const past = now - time;
  if (past < minute) return 'now';
  if (past < hour) return `${Math.floor(past / minute)} min ago`;
  if (past < day) return `${Math.floor(past / hour)} h ago`;
  return date(time, now);
}

/** "12 Mar", "12 Mar 2024" when the year is another. */
export function date(time: number, now: number): string {
  const at = new Date(time);
  const year = at.getFullYear() === new Date(now).getFullYear() ? undefined : 'numeric';
  return at.toLocaleDateString('en-GB', { day: 'numeric', month: 'short', year });
}

/** "12 Mar 2026, 14:05:09" for tooltips. */
export function fullTime(time: number): string {
  return new Date(time).toLocaleString('en-GB', {
    day: 'numeric',
    month: 'short',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
  });
}

function trim(text: string): string {
  return text.replace(/\.0$/, '');
}
