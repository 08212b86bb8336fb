import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { KEY_NAMES, type KeyName } from '../port/keys.ts';

/** Every script, by its folder under `lua/`. */
const FOLDERS = {
  thread: [
    'enqueue',
    'claim-turn',
    'renew-lease',
    'stop',
    'suspend',
    'retire',
    'quarantine',
    'release',
    'unquarantine',
  ],
  request: [
    'open',
    'vote',
    'answer',
    'end',
    'start',
    'heartbeat',
    'finish',
    'resolve',
    'redraw',
    'note-undo',
  ],
  timers: ['notify', 'recover', 'purge', 'due', 'measure'],
  outbox: ['outbox-enqueue', 'outbox-claim', 'outbox-done', 'outbox-retry', 'tell'],
  freeze: ['freeze', 'unfreeze'],
  files: ['write-file'],
  limit: ['count-call', 'read-totals'],
  grant: ['revoke-grant'],
  usage: ['spend', 'rename-usage'],
  document: ['write-document'],
  audit: ['note', 'trim-audit', 'append-checkpoint'],
} as const;
export type ScriptName = (typeof FOLDERS)[keyof typeof FOLDERS][number];

/**
 * The scripts that also run while Redis is over its `maxmemory`: they end, hold or record what has happened, or free memory. A script that begins
 * something, or takes something new, is refused then.
 */
const WHEN_FULL: ReadonlySet<string> = new Set<ScriptName>([
  ...(['freeze', 'end', 'note', 'finish', 'heartbeat'] as const),
  ...(['renew-lease', 'release', 'stop', 'recover', 'purge', 'retire'] as const),
  ...(['outbox-enqueue', 'outbox-claim', 'outbox-done', 'outbox-retry'] as const),
  // The progress of the export and the end of a delegation are documents.
  ...(['append-checkpoint', 'trim-audit', 'revoke-grant', 'write-document'] as const),
]);
const ALLOW_OOM = '#!lua flags=allow-oom\n';

export interface Script {
  readonly text: string;
  readonly sha: string;
  /** The keys that the script names, in the order in which it receives them. */
  readonly keys: readonly KeyName[];
}

export type Scripts = Readonly<Record<ScriptName, Script>>;

/** Runs the script, what follows from it and the writes that it left to its end, whichever way it returned, and reports what is due and audited. */
const FINISH = `local reply = script()
follow_up()
for i = 1, #last_writes do last_writes[i]() end
return { reply, due_work, events, NOW }`;

const PATHS: ReadonlyMap<string, string> = new Map(
  Object.entries(FOLDERS).flatMap(([folder, names]) => names.map((name) => [name, `${folder}/${name}`])),
);

/** Reads all scripts with their includes. A test can `change` the text, to take a guard out. */
export function loadScripts(change: (text: string) => string = (text) => text): Scripts {
  const prelude = readLua('lib/prelude');
  const entries = [...PATHS].map(([name, path]) => {
    const own = `local function script()\n${resolve(path, new Set())}\nend\n${FINISH}`;
    const body = change(`${prelude}\n${own}`);
    const keys = KEY_NAMES.filter((key) => new RegExp(`\\bK\\.${key}\\b`).test(body));
    const text = `${WHEN_FULL.has(name) ? ALLOW_OOM : ''}${nameKeys(keys)}\n${body}`;
    const sha = createHash('sha1').update(text).digest('hex');
    const script: Script = { text, keys, sha };
    return [name, script] as const;
  });
  return Object.fromEntries(entries) as Record<ScriptName, Script>;
}

/** Inserts each included part once, and each joined script as a function of its own ARGV. */
function resolve(path: string, included: Set<string>): string {
  return readLua(path).replace(/^--- (include|script) ([\w-]+)$/gm, (_line, kind: string, part: string) => {
    if (kind === 'script') {
      const name = part.replaceAll('-', '_');
      return `local function ${name}(ARGV)\n${resolve(PATHS.get(part) ?? part, included)}\nend`;
    }
    if (included.has(part)) return '';
    included.add(part);
    return resolve(`lib/${part}`, included);
  });
}

function nameKeys(keys: readonly KeyName[]): string {
  const fields = keys.map((key, index) => `${key} = KEYS[${index + 1}], `);
  return `local FIRST_REQUEST = ${keys.length + 1}\nlocal K = { ${fields.join('')}ask = KEYS[FIRST_REQUEST], run = KEYS[FIRST_REQUEST + 1], record = KEYS[FIRST_REQUEST + 2] }`;
}

function readLua(path: string): string {
  return readFileSync(new URL(`../lua/${path}.lua`, import.meta.url), 'utf8');
}
