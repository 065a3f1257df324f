// @vitest-environment node
import { expect, test } from 'vitest';
import { textOfDataURL } from './dataurl';

const base64 = (bytes: number[]) => `data:text/plain;base64,${btoa(String.fromCharCode(...bytes))}`;

test('text is read as UTF-8', () => {
  expect(textOfDataURL(base64([...new TextEncoder().encode('größer 👍')]))).toBe('größer 👍');
  expect(textOfDataURL('data:,a%20b%C3%BC')).toBe('a bü');
  expect(textOfDataURL('data:text/plain;base64,')).toBe('');
});

test('what is not text is told from it', () => {
  expect(textOfDataURL(base64([0x50, 0x4b, 0, 3]))).toBeNull();
  expect(textOfDataURL(base64([0xff, 0xfe, 0x41]))).toBeNull();
  expect(textOfDataURL('nothing')).toBeNull();
  expect(textOfDataURL('data:;base64,%%%')).toBeNull();
});
