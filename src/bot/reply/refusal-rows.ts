import type { ClaimedTurn, OutboxRow } from '../../store/port/store.ts';
import { readableName } from '../../tools/presentation/readable-name.ts';
import { showLabel } from '../cards/values/show-text.ts';
import { limits } from '../slack/limits.ts';
import { parseThreadId } from '../slack/thread.ts';
import { noticeTexts } from '../texts/notices.ts';

/** A call that did not run, and why. */
export interface RefusedCall {
  readonly toolRequest: { readonly name: string; readonly ref: string };
  readonly metadata: { readonly interruptId: string; readonly reason: string };
}

/** Builds the notices for calls that were refused without asking anybody: one per reason. The reason may hold untrusted text. */
export function refusalRows(
  turn: Pick<ClaimedTurn, 'threadId' | 'token'>,
  refused: readonly RefusedCall[],
  requester: string,
): OutboxRow[] {
  const { channel, threadTs } = parseThreadId(turn.threadId);
  return refused.flatMap(({ metadata: { interruptId, reason } }, place) => {
    const alike = refused.filter(({ metadata }) => metadata.reason === reason);
    if (alike[0] !== refused[place]) return [];
    const text = noticeTexts.didNotRun(titlesOf(alike), showLabel(reason, limits.quoteCharacters));
    return [
      {
        id: `${turn.threadId}/${turn.token}/refused-${interruptId}`,
        body: { kind: 'plain', channel, threadTs, text, requester },
      },
    ];
  });
}

/** Lists the called tools in words, each once, with its number of calls if there were several. */
function titlesOf(calls: readonly RefusedCall[]): string {
  const names = calls.map(({ toolRequest }) => toolRequest.name);
  const shown = [...new Set(names)].map((name) => {
    const times = names.filter((other) => other === name).length;
    const title = readableName(name);
    return times === 1 ? title : noticeTexts.calls(title, times);
  });
  return showLabel(shown.join(', '), limits.label);
}
