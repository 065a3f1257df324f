// Search in settings: which sections and fields hold what is typed.

export type SectionID = 'models' | 'backends' | 'permissions' | 'appearance' | 'data' | 'about';

export interface Section {
  id: SectionID;
  label: string;
}

export const SECTIONS: readonly Section[] = [
  { id: 'models', label: 'Models' },
  { id: 'backends', label: 'Backends' },
  { id: 'permissions', label: 'Permissions' },
  { id: 'appearance', label: 'Appearance' },
  { id: 'data', label: 'Data and privacy' },
  { id: 'about', label: 'About' },
];

export interface Field {
  id: string;
  section: SectionID;
  label: string;
  /** Other words that a reader may look for. */
  also: string;
}

export const FIELDS: readonly Field[] = [
  { id: 'default-model', section: 'models', label: 'Default model', also: 'provider llm gpt choose new sessions' },
  { id: 'effort', section: 'models', label: 'Reasoning effort', also: 'thinking low medium high' },
  { id: 'keys', section: 'models', label: 'Keys', also: 'api key token secret openai keyring password' },
  { id: 'base-url', section: 'models', label: 'Address and account', also: 'base url proxy gateway openai organization project' },
  { id: 'endpoints', section: 'models', label: 'Compatible endpoints', also: 'chat completions server vllm custom add' },
  { id: 'local', section: 'models', label: 'Servers on this computer', also: 'local ollama lm studio llama.cpp vllm offline found' },
  { id: 'default-backend', section: 'backends', label: 'Default backend', also: 'sandbox new sessions where' },
  { id: 'docker-image', section: 'backends', label: 'Docker image', also: 'container default python new' },
  { id: 'backend-list', section: 'backends', label: 'Available backends', also: 'local docker e2b daytona container cloud test' },
  { id: 'approve', section: 'permissions', label: 'What asks first', also: 'ask before commands run approval permission mode always risky never safe' },
  { id: 'theme', section: 'appearance', label: 'Theme', also: 'dark light system colour color' },
  { id: 'text-size', section: 'appearance', label: 'Text size', also: 'zoom font larger smaller scale' },
  { id: 'data-dir', section: 'data', label: 'Data folder', also: 'storage sessions where files disk' },
  { id: 'store', section: 'data', label: 'Store', also: 'size space disk clean sweep check damage snapshots usage' },
  { id: 'trace', section: 'data', label: 'Tracing', also: 'openai traces privacy telemetry send spans' },
  { id: 'web-ui', section: 'data', label: 'Temporal Web UI', also: 'workflow history debug' },
  { id: 'doctor', section: 'data', label: 'Doctor report', also: 'check problems diagnose works' },
  { id: 'version', section: 'about', label: 'Version', also: 'build platform' },
  { id: 'licence', section: 'about', label: 'Licence', also: 'license mit copyright' },
];

export interface Found {
  /** Field ids to show; null when nothing is typed: all. */
  fields: ReadonlySet<string> | null;
  /** Sections with at least one such field, in order. */
  sections: readonly SectionID[];
  /** The number of fields found in each section. */
  counts: Readonly<Partial<Record<SectionID, number>>>;
}

/** search finds the fields in whose words every typed word begins a word. */
export function search(query: string): Found {
  const wanted = query.toLocaleLowerCase().split(/\s+/).filter(Boolean);
  if (wanted.length === 0) return { fields: null, sections: SECTIONS.map((section) => section.id), counts: {} };
  const fields = new Set<string>();
  const counts: Partial<Record<SectionID, number>> = {};
  for (const field of FIELDS) {
    const section = SECTIONS.find((candidate) => candidate.id === field.section)!;
    const text = `${section.label} ${field.label} ${field.also}`.toLocaleLowerCase().split(/[^\p{L}\p{N}.]+/u);
    if (!wanted.every((word) => text.some((token) => token.startsWith(word)))) continue;
    fields.add(field.id);
    counts[field.section] = (counts[field.section] ?? 0) + 1;
  }
  return { fields, sections: SECTIONS.map((section) => section.id).filter((id) => counts[id]), counts };
}
