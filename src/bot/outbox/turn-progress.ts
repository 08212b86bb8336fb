import type { ToolProgress } from '../../agent/calls/run-call.ts';
import { tryParseJson } from '../../agent/json.ts';
import type { ModelReply, RawCall } from '../../agent/model.ts';
import { readableName } from '../../tools/presentation/formats.ts';
import type { Toolbox } from '../../tools/toolbox/toolbox.ts';
import { limits } from '../slack/limits.ts';
import { statusTexts } from '../views/texts/replies.ts';
import { showLabel } from '../views/texts/show-text.ts';
import type { ReplyStream, Step } from './reply-stream.ts';

/** Shows the progress of a turn: the present step in the status line, and all steps in the reply of a turn that takes long. */
export class TurnProgress {
  readonly #toolbox: Pick<Toolbox, 'find'>;
  readonly #stream: Pick<ReplyStream, 'setStep'>;
  readonly #setLine: (line: string) => void;
  readonly #running = new Map<string, Step>();

  constructor(
    toolbox: Pick<Toolbox, 'find'>,
    stream: Pick<ReplyStream, 'setStep'>,
    setLine: (line: string) => void,
  ) {
    this.#toolbox = toolbox;
    this.#stream = stream;
    this.#setLine = setLine;
  }

  /** The model is asked, so the calls before have ended. */
  thinking(): void {
    this.#setLine(statusTexts.thinking);
    this.#endSteps('complete');
  }

  /** The calls of a reply begin, named by the titles of their tools. */
  running({ calls }: Pick<ModelReply, 'calls'>): void {
    const titles = calls.map((call) => titleOf(this.#toolbox, call));
    const [first, ...others] = titles;
    if (first !== undefined) this.#setLine(statusTexts.running(first, others.length));
    calls.forEach(({ id }, index) => {
      const title = showLabel(titles[index] ?? '', limits.stepTitle);
      this.#set({ id, title, status: 'in_progress' });
    });
  }

  report({ name, message }: ToolProgress): void {
    this.#setLine(statusTexts.progress(readableName(name), message));
  }

  failed(id: string): void {
    const step = this.#running.get(id);
    if (step !== undefined) this.#set({ ...step, status: 'error' });
  }

  /** Ends all steps. Those in `waiting` wait for a person and stay open: their cards say what becomes of them, which the steps never learn. */
  end(waiting: readonly string[], { isStopped }: { readonly isStopped: boolean }): void {
    for (const id of waiting) {
      const step = this.#running.get(id);
      if (step !== undefined) this.#set({ ...step, status: 'pending', details: statusTexts.sentForApproval });
    }
    this.#endSteps(isStopped ? 'error' : 'complete');
  }

  #set(step: Step): void {
    this.#stream.setStep(step);
    if (step.status === 'in_progress') this.#running.set(step.id, step);
    else this.#running.delete(step.id);
  }

  #endSteps(status: 'complete' | 'error'): void {
    for (const step of [...this.#running.values()])
      this.#set({ ...step, status, ...(status === 'error' && { details: statusTexts.stopped }) });
  }
}

function titleOf(toolbox: Pick<Toolbox, 'find'>, { name, arguments: given }: RawCall): string {
  try {
    const { presentation } = toolbox.find(name) ?? {};
    return presentation?.present(tryParseJson(given) ?? {}).title ?? readableName(name);
  } catch {
    // The model's arguments are not checked yet, and not every title can be made of them.
    return readableName(name);
  }
}
