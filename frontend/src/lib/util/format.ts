// Numbers, sizes and times as the window writes them.

const group = new Intl.NumberFormat('en');

/** "1,234" */
export function count(n: number): string {
  return group.format(n);
}

/** "1 turn", "1,204 turns" */
export function plural(n: number, one: string, many = `${one}s`): string {
  return `${count(n)} ${n === 1 ? one : many}`;
}

/** "0 B", "812 B", "18.4 KB", "3.1 MB": steps of 1,024. */
export function bytes(n: number): string {
  if (n < 1024) return `${n} B`;
  const units = ['KB', 'MB', 'GB', 'TB'];
  let value = n / 1024;
  let unit = 0;
  // 1,023.96 KB would be written as 1,024.0 KB.
  while (value >= 1023.95 && unit < units.length - 1) {
    value /= 1024;
    unit++;
  }
  return `${value < 100 ? trim(value.toFixed(1)) : Math.round(value)} ${units[unit]}`;
}

/** "940", "18.4k", "1.2M" */
export function tokens(n: number): string {
  if (n < 1000) return String(n);
  if (n < 999_500) return `${n < 99_950 ? trim((n / 1000).toFixed(1)) : Math.round(n / 1000)}k`;
  return `${trim((n / 1_000_000).toFixed(1))}M`;
}

/** Millionths of a dollar: "$0.11", "$0.0042" below a cent, "$0". */
export function money(micros: number): string {
  if (micros === 0) return '$0';
  const dollars = micros / 1_000_000;
  if (dollars < 0.0001) return '<$0.0001';
  return dollars < 0.01 ? `$${trim(dollars.toFixed(4))}` : `$${dollars.toFixed(2)}`;
}

/** "0.4 s", "12 s", "1 m 12 s", "2 h 5 m", "3 d 4 h" */
export function duration(ms: number): string {
  if (ms < 9_950) return `${(Math.max(0, ms) / 1000).toFixed(1)} s`;
  const s = Math.round(ms / 1000);
  if (s < 60) return `${s} s`;
  if (s < 3600) return pair(Math.floor(s / 60), 'm', s % 60, 's');
  const m = Math.round(s / 60);
  if (m < 1440) return pair(Math.floor(m / 60), 'h', m % 60, 'm');
  const h = Math.round(m / 60);
  return pair(Math.floor(h / 24), 'd', h % 24, 'h');
}

/** "now", "4 m", "3 h" under a day, then the date: "Jan 9". */
export function when(iso: string, now: number = Date.now()): string {
  const time = Date.parse(iso);
  if (Number.isNaN(time)) return '';
  const ms = now - time;
  if (ms < 60_000) return 'now';
  if (ms < 3_600_000) return `${Math.floor(ms / 60_000)} m`;
  if (ms < 86_400_000) return `${Math.floor(ms / 3_600_000)} h`;
  const date = new Date(time);
  const sameYear = date.getFullYear() === new Date(now).getFullYear();
  return date.toLocaleDateString('en', { day: 'numeric', month: 'short', ...(sameYear ? {} : { year: 'numeric' }) });
}

/** The whole date and time, for tooltips. */
export function fullTime(iso: string): string {
  const time = Date.parse(iso);
  return Number.isNaN(time) ? '' : new Date(time).toLocaleString('en', { dateStyle: 'medium', timeStyle: 'medium' });
}

function trim(text: string): string {
  return text.replace(/\.?0+$/, '');
}

function pair(a: number, unitA: string, b: number, unitB: string): string {
  return b === 0 ? `${a} ${unitA}` : `${a} ${unitA} ${b} ${unitB}`;
}
