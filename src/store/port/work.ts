import { z } from 'zod';

const TIMER_KINDS = [
  'expire',
  'remind',
  'escalate',
  'recover',
  'purge',
  'retire',
  'undo',
  'freeze',
  'ended',
] as const;
export type TimerKind = (typeof TIMER_KINDS)[number];

/** Work that may be due: ids and nothing else. It names where to look; it is never the right to act. */
export const Work = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('thread'), threadId: z.string() }),
  z.strictObject({ kind: z.literal('run'), requestId: z.string() }),
  z.strictObject({ kind: z.literal('outbox') }),
  z.strictObject({ kind: z.literal('timer'), timer: z.enum(TIMER_KINDS), id: z.string() }),
]);
export type Work = Readonly<z.infer<typeof Work>>;
export type WorkKind = Work['kind'];

/** Returns the name of a piece of work, as scripts write it; equal work has equal names. */
export function nameOfWork(work: Work): string {
  switch (work.kind) {
    case 'thread':
      return `thread|${work.threadId}`;
    case 'run':
      return `run|${work.requestId}`;
    case 'outbox':
      return 'outbox';
    case 'timer':
      return `${work.timer}|${work.id}`;
  }
}

/** Returns the work of a name, or `undefined` for a name of another version. */
export function workNamed(name: string): Work | undefined {
  const cut = name.indexOf('|');
  const [kind, id] = cut < 0 ? [name, ''] : [name.slice(0, cut), name.slice(cut + 1)];
  if (kind === 'outbox') return { kind };
  if (kind === 'thread') return { kind, threadId: id };
  if (kind === 'run') return { kind, requestId: id };
  const timer = TIMER_KINDS.find((each) => each === kind);
  return timer && { kind: 'timer', timer, id };
}
