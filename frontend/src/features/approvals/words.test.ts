import { expect, test } from 'vitest';
import { alwaysLabel } from './words';

test('the button names what it allows', () => {
  expect(alwaysLabel([])).toBe('');
  expect(alwaysLabel(['pip install'])).toBe('Always allow “pip install” here');
  expect(alwaysLabel(['cd', 'make', 'go test'])).toBe('Always allow “cd”, “make” and “go test” here');
});
