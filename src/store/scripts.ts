import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { KEY_NAMES, type KeyName } from './keys.ts';

const NAMES = [
  'put',
  'take',
  'put-take',
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
  'vote-start',
  'sign',
  'beat',
  'finish',
  'finish-take',
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
  /** The keys that the script names, in the order in which it takes them. */
  readonly keys: readonly KeyName[];
  /** Whether each request comes with the key of what never changes of it. */
  readonly takesRecords: boolean;
}

/** What a script has left to its end is written whichever way it returned. */
const FINISH = `local said = script()
for i = 1, #last_writes do last_writes[i]() end
return said`;

export type Scripts = Readonly<Record<ScriptName, Script>>;

/** Reads all scripts with what they include; `change` lets a test take something out of one to see what it was for. */
export function loadScripts(change: (text: string) => string = (text) => text): Scripts {
  const prelude = readLua('lib/prelude');
  const entries = NAMES.map((name) => {
    const own = `local function script()\n${resolve(name, new Set())}\nend\n${FINISH}`;
    const body = change(`${prelude}\n${own}`);
    const keys = KEY_NAMES.filter((key) => new RegExp(`\\bK\\.${key}\\b`).test(body));
    const text = `${nameKeys(keys)}\n${body}`;
    const takesRecords = /\bK\.record\b/.test(body);
    const sha = createHash('sha1').update(text).digest('hex');
    const script: Script = { text, keys, takesRecords, sha };
    return [name, script] as const;
  });
  return Object.fromEntries(entries) as Record<ScriptName, Script>;
}

/** A script with the parts it includes, each once, and the scripts it joins, each as a function of its own ARGV. */
function resolve(file: string, included: Set<string>): string {
  return readLua(file).replace(/^--- (include|script) ([\w-]+)$/gm, (_line, kind: string, part: string) => {
    if (kind === 'script') return `local function ${part}(ARGV)\n${resolve(part, included)}\nend`;
    if (included.has(part)) return '';
    included.add(part);
    return resolve(`lib/${part}`, included);
  });
}

function nameKeys(keys: readonly KeyName[]): string {
  const fields = keys.map((key, index) => `${key} = KEYS[${index + 1}], `);
  return `local FIRST_REQUEST = ${keys.length + 1}\nlocal K = { ${fields.join('')}request = KEYS[FIRST_REQUEST], record = KEYS[FIRST_REQUEST + 1] }`;
}

function readLua(name: string): string {
  return readFileSync(new URL(`./lua/${name}.lua`, import.meta.url), 'utf8');
}
