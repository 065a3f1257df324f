import type { LanguageFn } from 'highlight.js';

type Load = () => Promise<{ default: LanguageFn }>;

const bash: Load = () => import('highlight.js/lib/languages/bash');
const c: Load = () => import('highlight.js/lib/languages/c');
const cpp: Load = () => import('highlight.js/lib/languages/cpp');
const csharp: Load = () => import('highlight.js/lib/languages/csharp');
const css: Load = () => import('highlight.js/lib/languages/css');
const diff: Load = () => import('highlight.js/lib/languages/diff');
const dockerfile: Load = () => import('highlight.js/lib/languages/dockerfile');
const elixir: Load = () => import('highlight.js/lib/languages/elixir');
const go: Load = () => import('highlight.js/lib/languages/go');
const graphql: Load = () => import('highlight.js/lib/languages/graphql');
const haskell: Load = () => import('highlight.js/lib/languages/haskell');
const ini: Load = () => import('highlight.js/lib/languages/ini');
const java: Load = () => import('highlight.js/lib/languages/java');
const javascript: Load = () => import('highlight.js/lib/languages/javascript');
const json: Load = () => import('highlight.js/lib/languages/json');
const kotlin: Load = () => import('highlight.js/lib/languages/kotlin');
const lua: Load = () => import('highlight.js/lib/languages/lua');
const makefile: Load = () => import('highlight.js/lib/languages/makefile');
const markdown: Load = () => import('highlight.js/lib/languages/markdown');
const perl: Load = () => import('highlight.js/lib/languages/perl');
const php: Load = () => import('highlight.js/lib/languages/php');
const powershell: Load = () => import('highlight.js/lib/languages/powershell');
const protobuf: Load = () => import('highlight.js/lib/languages/protobuf');
const python: Load = () => import('highlight.js/lib/languages/python');
const r: Load = () => import('highlight.js/lib/languages/r');
const ruby: Load = () => import('highlight.js/lib/languages/ruby');
const rust: Load = () => import('highlight.js/lib/languages/rust');
const scala: Load = () => import('highlight.js/lib/languages/scala');
const scss: Load = () => import('highlight.js/lib/languages/scss');
const sql: Load = () => import('highlight.js/lib/languages/sql');
const swift: Load = () => import('highlight.js/lib/languages/swift');
const typescript: Load = () => import('highlight.js/lib/languages/typescript');
const xml: Load = () => import('highlight.js/lib/languages/xml');
const yaml: Load = () => import('highlight.js/lib/languages/yaml');

/** Languages by the names that fences and file endings use. */
export const languages: Readonly<Record<string, Load>> = {
  bash, sh: bash, shell: bash, zsh: bash, console: bash,
  c, h: c,
  cpp, 'c++': cpp, cc: cpp, cxx: cpp, hpp: cpp, hh: cpp,
  csharp, cs: csharp, 'c#': csharp,
  css, scss, sass: scss, less: css,
  diff, patch: diff,
  dockerfile, docker: dockerfile,
  elixir, ex: elixir, exs: elixir,
  go, golang: go,
  graphql, gql: graphql,
  haskell, hs: haskell,
  ini, toml: ini, conf: ini, cfg: ini, properties: ini, env: ini,
  java, kotlin, kt: kotlin, kts: kotlin, scala,
  javascript, js: javascript, jsx: javascript, mjs: javascript, cjs: javascript,
  json, jsonc: json, json5: json, webmanifest: json,
  lua,
  makefile, make: makefile, mk: makefile,
  markdown, md: markdown,
  perl, pl: perl, pm: perl,
  php,
  powershell, ps1: powershell,
  protobuf, proto: protobuf,
  python, py: python, pyi: python, python3: python,
  r,
  ruby, rb: ruby,
  rust, rs: rust,
  sql,
  swift,
  typescript, ts: typescript, tsx: typescript, mts: typescript, cts: typescript,
  xml, html: xml, xhtml: xml, svg: xml, vue: xml, svelte: xml, htm: xml, plist: xml,
  yaml, yml: yaml,
};

const names: Readonly<Record<string, string>> = {
  dockerfile: 'dockerfile',
  containerfile: 'dockerfile',
  makefile: 'makefile',
  gnumakefile: 'makefile',
  gemfile: 'ruby',
  rakefile: 'ruby',
  'go.mod': 'go',
  '.bashrc': 'bash',
  '.profile': 'bash',
  '.gitconfig': 'ini',
  '.editorconfig': 'ini',
};

/** The language of a file by its name; "" when it is not known. */
export function languageOf(file: string): string {
  const name = file.slice(file.lastIndexOf('/') + 1).toLowerCase();
  const special = names[name];
  if (special) return special;
  const ending = name.includes('.') ? name.slice(name.lastIndexOf('.') + 1) : '';
  return languages[ending] ? ending : '';
}
