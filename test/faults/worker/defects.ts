import { loadScripts, type Scripts } from '../../../src/store/redis/scripts.ts';
import { scriptsWithout } from '../../store/guards/guard-lines.ts';
import { noteEffect } from './effects.ts';

/** Something built in on purpose, to see that it is caught. */
export interface Defect {
  readonly scripts?: Scripts;
  readonly onReply?: (script: string, args: readonly string[], reply: unknown) => void;
  readonly onModelBody?: (body: string) => string;
}

/** Each defect breaks one promise: the invariant whose checker must say so, and the errand in which it shows. */
export const DEFECTS = {
  'effect-twice': { breaks: 1, errand: 'signed charge' },
  'receipt-twice': { breaks: 1, errand: 'an ask of a caller' },
  'anybody-approves': { breaks: 2, errand: 'rejected' },
  'quorum-of-one': { breaks: 2, errand: 'two signatures' },
  'other-arguments': { breaks: 3, errand: 'signed charge' },
  'acts-on-rejection': { breaks: 4, errand: 'rejected' },
  'start-unaudited': { breaks: 5, errand: 'signed charge' },
  'decides-again': { breaks: 6, errand: 'withdrawn' },
  'turns-overlap': { breaks: 7, errand: 'hurried while the model thinks' },
  'result-lost': { breaks: 8, errand: 'signed charge' },
  'never-starts': { breaks: 9, errand: 'signed charge' },
  'tells-secret': { breaks: 10, errand: 'signed charge' },
  'does-nothing': { breaks: 11, errand: 'signed charge' },
} as const;
export type DefectName = keyof typeof DEFECTS;

/** Asked by the tools, for the defects that are theirs. */
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
    case 'receipt-twice':
      return { scripts: scriptsWithout('start-settled') };
    case 'decides-again':
      return { scripts: scriptsWithout('vote-settled') };
    case 'turns-overlap':
      return {
        scripts: loadScripts((text) =>
          text
            .replace(/^local held = .*$/m, 'local held = false')
            .replace(/^if .+ then\b(.*-- guard: (?:suspend|renew-lease)-stale)$/m, 'if false then$1'),
        ),
      };
    case 'result-lost':
      return { onModelBody: loseResult };
    case 'never-starts':
      return {
        scripts: loadScripts((text) =>
          text.replace(/^local try, first = .*$/m, "if true then return { 'unknown' } end\n$&"),
        ),
      };
    default:
      return {};
  }
}

function actOnRejection(script: string, args: readonly string[], reply: unknown): void {
  // The reply of the script comes before its report.
  const [said]: unknown[] = Array.isArray(reply) ? reply : [];
  if (script !== 'vote' || !Array.isArray(said) || String(said[1]) !== 'rejected') return;
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
