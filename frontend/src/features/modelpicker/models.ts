// The model picker's list: providers with their models, filtered by what is typed.
import type { ModelInfo, ProviderInfo } from '$lib/backend/types';
import { matches, words } from '$lib/util/words';

export interface ModelRow {
  provider: string;
  model: string;
  label: string;
  info: ModelInfo;
  disabled: boolean;
}

export interface ModelGroup {
  provider: ProviderInfo;
  rows: ModelRow[];
}

/**
 * modelGroups orders providers as they came, the available ones first, and
 * keeps the models that match. A provider whose own name matches keeps all its
 * models. Without a query every provider is listed, so that one without models
 * can say why.
 */
export function modelGroups(providers: readonly ProviderInfo[], query: string): ModelGroup[] {
  const wanted = words(query);
  const groups: ModelGroup[] = [];
  const ordered = [...providers].sort((a, b) => Number(b.available) - Number(a.available));
  for (const provider of ordered) {
    const rows = modelsOf(provider)
      .map((info) => ({
        provider: provider.name,
        model: info.id,
        label: info.label || info.id,
        info,
        disabled: !provider.available,
      }))
      .filter((row) => matches(wanted, row.model, row.label, provider.label, provider.name));
    if (rows.length > 0 || wanted.length === 0 || matches(wanted, provider.label, provider.name)) {
      groups.push({ provider, rows });
    }
  }
  return groups;
}

/** A provider's models; its default alone when it can't list them. */
function modelsOf(provider: ProviderInfo): ModelInfo[] {
  if (provider.models && provider.models.length > 0) return provider.models;
  if (provider.available && provider.default) return [{ id: provider.default, images: false }];
  return [];
}

/** withModels fills in the models that were asked for apart. */
export function withModels(
  providers: readonly ProviderInfo[],
  models: Readonly<Record<string, readonly ModelInfo[]>>,
): ProviderInfo[] {
  return providers.map((provider) => {
    const own = models[provider.name];
    return own && !provider.models?.length ? { ...provider, models: [...own] } : provider;
  });
}

export function findModel(
  providers: readonly ProviderInfo[],
  provider: string,
  model: string,
): ModelInfo | undefined {
  const info = providers.find((candidate) => candidate.name === provider);
  return info ? modelsOf(info).find((candidate) => candidate.id === model) : undefined;
}

export interface Choice {
  provider: string;
  model: string;
}

/**
 * effective tells who answers: the session's own choice, else the default of
 * its provider, else that of the app.
 */
export function effective(
  chosen: Choice,
  fallback: Choice,
  providers: readonly ProviderInfo[],
): Choice & { inherited: boolean } {
  if (!chosen.provider) {
    return {
      provider: fallback.provider,
      model: chosen.model || fallback.model,
      inherited: !chosen.model,
    };
  }
  if (chosen.model) return { ...chosen, inherited: false };
  const own = providers.find((provider) => provider.name === chosen.provider)?.default ?? '';
  return { provider: chosen.provider, model: own, inherited: false };
}

/** The context of who answers, in tokens; undefined while it is not known. */
export function contextWindow(
  chosen: Choice,
  fallback: Choice,
  providers: readonly ProviderInfo[],
  models: Readonly<Record<string, readonly ModelInfo[]>>,
): number | undefined {
  const { provider, model } = effective(chosen, fallback, providers);
  return findModel(withModels(providers, models), provider, model)?.window;
}

const EFFORT_WORDS: Record<string, string> = {
  none: 'None',
  minimal: 'Minimal',
  low: 'Low',
  medium: 'Medium',
  high: 'High',
  xhigh: 'X-high',
};

export function effortLabel(effort: string): string {
  return EFFORT_WORDS[effort] ?? (effort ? effort[0]!.toUpperCase() + effort.slice(1) : 'Default');
}
