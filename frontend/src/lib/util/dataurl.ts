/** The text that a data URL holds; null when it is not text. */
export function textOfDataURL(url: string): string | null {
  const comma = url.indexOf(',');
  if (comma < 0) return null;
  const body = url.slice(comma + 1);
  try {
    const binary = /;base64$/i.test(url.slice(0, comma)) ? atob(body) : unescape(body);
    if (binary.includes('\0')) return null;
    return new TextDecoder('utf-8', { fatal: true }).decode(Uint8Array.from(binary, (c) => c.charCodeAt(0)));
  } catch {
    return null;
  }
}

function unescape(body: string): string {
  return Array.from(new TextEncoder().encode(decodeURIComponent(body)), (b) => String.fromCharCode(b)).join('');
}
