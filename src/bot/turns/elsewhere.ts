import { waitingPart } from '../../agent/calls/outcomes.ts';
import { tryParseJson } from '../../agent/json.ts';
import {
  type Interrupt,
  MESSAGE_VERSION,
  type Message,
  sealMessage,
  sealMessages,
} from '../../agent/messages.ts';
import { type CloseReply, closeInterrupt } from '../../agent/replies.ts';
import { Transcript } from '../../agent/transcript.ts';
import { startOf } from '../../engine/caller-threads.ts';
import { doubtMetadata } from '../../engine/reasons.ts';
import { interruptOf, type Settlement, type Store } from '../../store/port/store.ts';
import { type Elsewhere, elsewhereOf, Report } from '../../tools/toolbox/caller-action.ts';
import { callerTexts } from '../views/texts/callers.ts';

/** The end of the waiting for a caller, beside the ends that any call can have. */
interface EndedElsewhere {
  readonly messages: readonly Message[];
  /** The settlements that are replied to as those of any call. */
  readonly settled: readonly Settlement[];
  readonly close: readonly CloseReply[];
}

/**
 * Ends the calls that their callers run themselves. A caller that has started one and says nothing, or does not know, leaves its outcome
 * unknown: people are asked, as about every Run. One that was never started did not run, since it cannot be started any more.
 */
export async function endElsewhere(
  { store }: { readonly store: Pick<Store, 'readDocument'> },
  messages: readonly Message[],
  settled: readonly Settlement[],
): Promise<EndedElsewhere> {
  const { interrupts } = Transcript.latestRound(messages, { mayBeOpen: true });
  const rest: Settlement[] = [];
  const close: CloseReply[] = [];
  let ended = messages;
  for (const settlement of settled) {
    const interrupt = interrupts.find(({ id }) => id === interruptOf(settlement.requestId));
    const elsewhere = interrupt && elsewhereOf(interrupt);
    const end = elsewhere && (await endOf(store, settlement, elsewhere));
    if (interrupt === undefined || elsewhere === undefined || end === undefined) rest.push(settlement);
    else if (end === 'in-doubt') ended = withDoubt(ended, interrupt, elsewhere);
    else close.push(closeInterrupt(interrupt, end.status, end.reason));
  }
  return { messages: ended, settled: rest, close };
}

type End = 'in-doubt' | { readonly status: string; readonly reason: string };

async function endOf(
  store: Pick<Store, 'readDocument'>,
  { requestId, state, payload }: Settlement,
  { caller }: Elsewhere,
): Promise<End | undefined> {
  const isStarted = async () => (await store.readDocument(...startOf(requestId))) !== undefined;
  if (state === 'answered') {
    const { data: report } = Report.safeParse(tryParseJson(payload));
    if (report?.outcome === 'succeeded') return undefined;
    if (report?.outcome !== 'failed') return 'in-doubt';
    return { status: 'failed', reason: report.summary ?? callerTexts.failed(caller) };
  }
  if (await isStarted()) return 'in-doubt';
  return state === 'expired' ? { status: 'expired', reason: callerTexts.notStarted(caller) } : undefined;
}

/** Lets a call wait for people who say what happened. */
function withDoubt(
  messages: readonly Message[],
  interrupt: Interrupt,
  { caller }: Elsewhere,
): readonly Message[] {
  const call = Transcript.latestRound(messages, { mayBeOpen: true }).round.get(interrupt.toolRequest.ref);
  if (call === undefined) return messages;
  const part = waitingPart(call.part, { metadata: doubtMetadata({ code: 'silent', caller }) });
  return sealMessages([...messages, sealMessage({ v: MESSAGE_VERSION, role: 'tool', content: [part] })]);
}
