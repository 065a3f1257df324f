// @vitest-environment node
import { describe, expect, it } from 'vitest';
import type { ProviderInfo } from '$lib/backend/types';
import { contextWindow, effective, effortLabel, findModel, modelGroups, withModels } from './models';

const providers: ProviderInfo[] = [
  {
    name: 'openai', label: 'OpenAI', kind: 'openai', available: false, local: false,
    reason: 'No key is set.', models: [{ id: 'big', images: true }],
  },
  { name: 'demo', label: 'Demo', kind: 'demo', available: true, local: false, default: 'demo' },
  {
    name: 'ollama', label: 'Ollama', kind: 'compatible', available: true, local: true, default: 'qwen:8b',
    models: [
      { id: 'qwen:8b', label: 'Qwen 8B', images: false },
      { id: 'llama:70b', images: false, efforts: ['low', 'high'] },
    ],
  },
];

function listed(query: string): string[] {
  return modelGroups(providers, query).map(
    (group) => `${group.provider.name}: ${group.rows.map((row) => row.model).join(' ')}`,
  );
}

describe('modelGroups', () => {
  it('lists every provider, the available first, and a default that can’t be listed', () => {
    expect(listed('')).toEqual(['demo: demo', 'ollama: qwen:8b llama:70b', 'openai: big']);
  });

  it('disables models of a provider that can’t be used', () => {
    const openai = modelGroups(providers, 'big')[0]!;
    expect(openai.rows.map((row) => row.disabled)).toEqual([true]);
  });

  it('needs every word, over id, label and provider', () => {
    expect(listed('LLAMA')).toEqual(['ollama: qwen:8b llama:70b']);
    expect(listed('ollama qwen')).toEqual(['ollama: qwen:8b']);
    expect(listed('70b')).toEqual(['ollama: llama:70b']);
    expect(listed('nothing')).toEqual([]);
  });
});

describe('withModels', () => {
  it('fills in what was asked for apart, and never replaces a provider’s own list', () => {
    const asked = { demo: [{ id: 'demo-2', images: false }], ollama: [{ id: 'other', images: false }] };
    const filled = withModels(providers, asked);
    expect(filled.map((p) => p.models?.map((m) => m.id))).toEqual([['big'], ['demo-2'], ['qwen:8b', 'llama:70b']]);
  });
});

describe('effective', () => {
  const fallback = { provider: 'demo', model: 'demo' };

  it('falls back to the app’s default', () => {
    expect(effective({ provider: '', model: '' }, fallback, providers)).toEqual({ ...fallback, inherited: true });
  });

  it('takes the provider’s default when only the provider is chosen', () => {
    expect(effective({ provider: 'ollama', model: '' }, fallback, providers).model).toBe('qwen:8b');
  });

  it('keeps a full choice, even one that is no longer listed', () => {
    expect(effective({ provider: 'gone', model: 'm' }, fallback, providers)).toEqual({
      provider: 'gone', model: 'm', inherited: false,
    });
    expect(findModel(providers, 'gone', 'm')).toBeUndefined();
    expect(findModel(providers, 'ollama', 'llama:70b')?.efforts).toEqual(['low', 'high']);
  });
});

describe('effortLabel', () => {
  it('names known and unknown efforts', () => {
    expect([effortLabel(''), effortLabel('xhigh'), effortLabel('wild')]).toEqual(['Default', 'X-high', 'Wild']);
  });
});

describe('contextWindow', () => {
  it('is that of who answers, from models that were asked for apart, too', () => {
    const models = { demo: [{ id: 'demo', images: false, window: 8000 }] };
    const none = { provider: '', model: '' };
    expect(contextWindow(none, { provider: 'demo', model: 'demo' }, providers, models)).toBe(8000);
    expect(contextWindow({ provider: 'openai', model: 'big' }, none, providers, models)).toBeUndefined();
  });
});
