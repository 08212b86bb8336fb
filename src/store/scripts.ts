import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

const NAMES = [
  'put',
  'take',
  'renew',
  'stop',
  'suspend',
  'vote',
  'answer',
  'withdraw',
  'expire',
  'remind',
  'escalate',
  'supersede',
  'start',
  'beat',
  'finish',
  'recover',
  'resolve',
  'abandon',
  'add-views',
  'purge',
  'retire',
  'quarantine',
  'outbox-put',
  'outbox-take',
  'outbox-done',
  'outbox-retry',
  'outbox-drop',
  'due',
  'note',
  'trim-audit',
] as const;
export type ScriptName = (typeof NAMES)[number];

export interface Script {
  readonly text: string;
  readonly sha: string;
}

export type Scripts = Readonly<Record<ScriptName, Script>>;

/** Reads all scripts with what they include; `change` lets a test take something out of one to see what it was for. */
export function loadScripts(change: (text: string) => string = (text) => text): Scripts {
  const prelude = readLua('lib/prelude');
  const entries = NAMES.map((name) => {
    const own = readLua(name).replace(/^--- include (\w+)$/m, (_line, part: string) =>
      readLua(`lib/${part}`),
    );
    const text = change(`${prelude}\n${own}`);
    return [name, { text, sha: createHash('sha1').update(text).digest('hex') }] as const;
  });
  return Object.fromEntries(entries) as Record<ScriptName, Script>;
}

function readLua(name: string): string {
  return readFileSync(new URL(`./lua/${name}.lua`, import.meta.url), 'utf8');
}
