import { loadScripts, type Scripts } from '../../../src/store/scripts.ts';
import { scriptsWithout } from '../../store/guards/guard-lines.ts';
import { noteEffect } from './effects.ts';

/** Something built in on purpose, to see that it is caught. */
export interface Defect {
  readonly scripts?: Scripts;
  readonly onReply?: (script: string, args: readonly string[], reply: unknown) => void;
  readonly onModelBody?: (body: string) => string;
}

/** Each defect breaks one promise; the number is that of the invariant whose checker must say so. */
export const DEFECTS = {
  'effect-twice': 1,
  'quorum-of-one': 2,
  'other-arguments': 3,
  'acts-on-rejection': 4,
  'start-unaudited': 5,
  'decides-again': 6,
  'turns-overlap': 7,
  'result-lost': 8,
  'never-starts': 9,
  'tells-secret': 10,
  'does-nothing': 11,
} as const;
export type DefectName = keyof typeof DEFECTS;

/** Asked by the tools, for the defects that are theirs; they are loaded apart from the worker, so the environment tells. */
export function isDefect(name: DefectName): boolean {
  return process.env.FAULTS_DEFECT === name;
}

/** Builds the defect with that name into this worker. */
export function applyDefect(name: string | undefined): Defect {
  switch (name) {
    case 'quorum-of-one':
      return { scripts: loadScripts((text) => text.replaceAll('tonumber(request.quorum)', '1')) };
    case 'acts-on-rejection':
      return { onReply: actOnRejection };
    case 'start-unaudited':
      return { scripts: loadScripts((text) => text.replace(/^audit\('started'.*$/m, '')) };
    case 'decides-again':
      return { scripts: scriptsWithout('vote-settled') };
    case 'turns-overlap':
      return {
        scripts: loadScripts((text) =>
          text.replace(/^( *)if .+ then\b(.*-- guard: (?:take-busy|suspend-stale))$/gm, '$1if false then$2'),
        ),
      };
    case 'result-lost':
      return { onModelBody: loseResult };
    case 'never-starts':
      return {
        scripts: loadScripts((text) =>
          text.replace(/^local try = .*$/m, "if true then return { 'unknown' } end\n$&"),
        ),
      };
    default:
      return {};
  }
}

function actOnRejection(script: string, args: readonly string[], reply: unknown): void {
  if (script !== 'vote' || !Array.isArray(reply) || reply[1] !== 'rejected') return;
  const threadId = args.find((arg) => /^[CD]\w+:[\d.]+$/.test(arg)) ?? '';
  const effect = {
    tool: 'charge',
    token: '',
    input: '{}',
    key: 'none',
    threadId,
    at: Date.now(),
    process: 0,
  };
  noteEffect(process.env.FAULTS_EFFECTS ?? '', effect);
}

function loseResult(body: string): string {
  const request: { messages: { role: string }[] } = JSON.parse(body);
  const at = request.messages.findIndex(({ role }) => role === 'tool');
  return JSON.stringify({ ...request, messages: request.messages.filter((_, index) => index !== at) });
}
