import type { ModelError } from '../../agent/errors.ts';
import type { GenerateResponse } from '../../agent/generate.ts';
import { toJson } from '../../agent/json.ts';
import type { CompletedTask, Preview, PreviewStart, TurnReply } from '../../engine/ports.ts';
import { BudgetSpentError } from '../../engine/turns/token-budget.ts';
import type { ClaimedTurn, OutboxRow } from '../../store/port/values.ts';
import type { BotContext } from '../context.ts';
import { parseThreadId, type SlackThread } from '../slack/thread.ts';
import { plainValue } from '../views/cards/render-value.ts';
import { replyTexts } from '../views/texts/replies.ts';
import { joinTexts, replyRows } from './reply-rows.ts';
import { type PostedReply, ReplyStream, type StreamRecipient, StreamWatch } from './reply-stream.ts';
import { stopText } from './stop-report.ts';
import { TurnProgress } from './turn-progress.ts';

/** Shows a turn in its Slack thread: the line of its status, a streamed reply, and the steps of one that takes long. */
export class TurnPreview implements Preview {
  readonly #context: BotContext;
  readonly #turn: ClaimedTurn;
  readonly #start: PreviewStart;
  readonly #thread: SlackThread;
  readonly #watch: StreamWatch;
  readonly #stream: ReplyStream;
  readonly #progress: TurnProgress;
  #posted: PostedReply | undefined;

  constructor(context: BotContext, turn: ClaimedTurn, start: PreviewStart) {
    const { client, status, toolbox, logger } = context;
    const { requester, addressees, title, isNew, isContinued } = start;
    const thread = parseThreadId(turn.threadId);
    const watch = new StreamWatch(context, turn);
    this.#context = context;
    this.#turn = turn;
    this.#start = start;
    this.#thread = thread;
    this.#watch = watch;
    this.#stream = new ReplyStream(client, thread, () => recipient(context, requester), logger, {
      addressees,
      beforeStart: () => watch.prepare(),
      onStart: (ts) => watch.begin(ts),
    });
    this.#progress = new TurnProgress(toolbox, this.#stream, (line) => status.setLine(thread, line));
    status.begin(thread, { initiator: requester, isNew, isContinued, ...(title !== undefined && { title }) });
  }

  thinking(): void {
    this.#stream.pause();
    this.#progress.thinking();
  }

  running(reply: Parameters<Preview['running']>[0]): void {
    this.#stream.pause();
    this.#progress.running(reply);
  }

  write(delta: string): void {
    this.#stream.push(delta);
  }

  report(progress: Parameters<Preview['report']>[0]): void {
    this.#progress.report(progress);
  }

  failed(ref: string): void {
    this.#progress.failed(ref);
  }

  async pause({ waiting, isStopped }: Parameters<Preview['pause']>[0]): Promise<void> {
    this.#progress.end(waiting, { isStopped });
    this.#posted = await this.#stream.end();
  }

  rows({ response, isStopped, reference, completed, refused, asked }: TurnReply): OutboxRow[] {
    const { agent, status } = this.#context;
    const { requester, addressees } = this.#start;
    const posted = this.#posted;
    const session = asked > 0 ? 'suspended' : 'active';
    const notice = isStopped ? stopText(this.#context, response.messages) : finishNotice(response, reference);
    const text = joinTexts([this.#stream.text, notice, completed.map(describeTask).join('\n\n')]);
    const isSilent = text === '' && asked === 0 && refused.length === 0;
    const rows = replyRows(this.#turn, isSilent ? replyTexts.empty : text, posted, {
      session,
      requester,
      addressees,
      feedback: agent().feedback && session === 'active' && response.finishReason === 'stop',
    });
    const isFollowed = asked + refused.length + rows.length > (posted === undefined ? 0 : 1);
    status.end(this.#thread, { session, isFollowed, isStreamed: posted !== undefined });
    return rows;
  }

  recorded(): Promise<void> {
    return this.#watch.end();
  }

  leave(): void {
    this.#watch.leave();
  }
}

/** Names the person whom a reply is streamed to, with their own workspace: in a shared channel it may be another one. */
async function recipient({ directory }: BotContext, userId: string): Promise<StreamRecipient> {
  const team = (await directory.relaxed().member(userId)).team ?? (await directory.ownTeam());
  return { userId, teamId: team };
}

function describeTask({ outcome, summary, result }: CompletedTask): string {
  const data = result === undefined ? '' : `\n\`\`\`\n${plainValue(toJson(result))}\n\`\`\``;
  return `**${replyTexts.outcomes[outcome]}.** ${summary}${data}`;
}

/** Returns the sentence that follows the model's text when a turn ended without a complete answer. */
function finishNotice(response: GenerateResponse, reference: string): string {
  switch (response.finishReason) {
    case 'empty-choice':
    case 'invalid-output':
      return replyTexts.withReference(replyTexts.endings[response.finishReason], reference);
    case 'model-error':
      return replyTexts.withReference(describeFailure(response.error), reference);
    default:
      return replyTexts.endings[response.finishReason];
  }
}

/** Says in one sentence why the model did not answer, and what to do next; the log has the provider's own words. */
function describeFailure(error: ModelError): string {
  if (error instanceof BudgetSpentError)
    return error.budget === 'task'
      ? replyTexts.taskBudgetSpent
      : replyTexts.dayBudgetSpent(error.budget, error.hours);
  const { code, retryAfterMs, message } = error;
  if (code === 'over-budget') return message;
  return code === 'rate-limited' ? replyTexts.rateLimited(retryAfterMs) : replyTexts.failures[code];
}
