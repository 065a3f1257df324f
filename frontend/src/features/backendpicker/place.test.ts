// @vitest-environment node
import { expect, test } from 'vitest';
import { imageWords, imagesFor, unusable } from './place';

const images = ['alpine:3.20', 'python:3.14', 'my/python-tools:latest', 'golang:1.26'];

test('images that begin like what is typed come first', () => {
  expect(imagesFor(images, 'python')).toEqual(['python:3.14', 'my/python-tools:latest']);
  expect(imagesFor(images, '')).toHaveLength(4);
  expect(imagesFor(images, '', 2)).toEqual(['alpine:3.20', 'python:3.14']);
  expect(imagesFor(images, 'nothing')).toEqual([]);
});

test('says whether an image has to be fetched', () => {
  expect(imageWords('', 'python:3.14', images)).toBe('The default, python:3.14, is on this machine already.');
  expect(imageWords('my/python-tools', 'python:3.14', images)).toBe('It is on this machine already.');
  expect(imageWords('rust:1', 'python:3.14', images)).toMatch(/^It is pulled/);
});

test('why a backend can’t be used', () => {
  const docker = { name: 'docker', label: 'Docker', blurb: '', available: false, confined: true };
  expect(unusable(undefined)).toBe('');
  expect(unusable({ ...docker, available: true })).toBe('');
  expect(unusable({ ...docker, reason: 'Docker isn’t running.' })).toBe('Docker isn’t running.');
  expect(unusable(docker)).toBe('Docker can’t be used now.');
  expect(unusable({ ...docker, planned: true, reason: 'Needs a key.' })).toBe('Docker comes with a later version.');
});
