import type { BlockAction, BlockElementAction } from '@slack/bolt';
import type { Interrupt } from '../../../agent/messages.ts';
import type { Decision } from '../../../engine/decision.ts';
import type { RequestRecord } from '../../../store/port/request-record.ts';
import type { Toolbox } from '../../../tools/toolbox/toolbox.ts';
import type { Card, CardOptions } from '../cards/card.ts';
import type { CardDetails } from '../cards/card-details.ts';
import type { Piece } from '../facets/facet-lines.ts';
import type { Modal, ModalMetadata, Submission } from '../modals/modal.ts';

/**
 * One kind of question to people: which pauses it is for, how the record takes its answer, its card, and its buttons and modals.
 * `ASK_KINDS` lists all.
 */
export interface AskKind {
  readonly name: string;
  /** The way in which the record takes the answer: by votes, or as one answer of one person or system. */
  readonly recordedAs: RequestRecord['kind'];
  /** Tells whether a pause asks for it. */
  readonly isOf: (interrupt: Interrupt) => boolean;
  /** The time in which it is answered, where no policy says another. */
  readonly expiresInMs?: number;
  readonly card: (request: RequestRecord, details: CardDetails, options: CardOptions) => Card;
  /** Lists the exact words or values that it is about, for Details. */
  readonly exact: (request: RequestRecord, details: CardDetails) => readonly Piece[];
  readonly buttons: readonly AskButton[];
  readonly modals: readonly AskModal[];
}

/** A button or a menu of a card: it decides at once, or opens a modal. A pattern stands for all ids that it matches. */
export type AskButton =
  | {
      readonly id: string | RegExp;
      readonly decide: (action: BlockElementAction, body: BlockAction) => Decision;
    }
  | {
      readonly id: string;
      readonly open: (request: RequestRecord, opening: Opening) => Opened | Promise<Opened>;
    };

/** A modal, or the sentence that says why there is none. */
export type Opened = Modal | string;

/** The parts that a button needs to open a modal. */
export interface Opening {
  readonly toolbox: Pick<Toolbox, 'find'>;
  /** Says why the person who clicked may not answer; `undefined` if they may. */
  readonly answererProblem: () => Promise<string | undefined>;
}

/** A modal whose values are read as a decision; a sentence if it cannot be taken any more. */
export interface AskModal {
  readonly id: string;
  readonly read: (
    request: RequestRecord,
    values: unknown,
    metadata: ModalMetadata,
    toolbox: Pick<Toolbox, 'find'>,
  ) => Submission<Decision | string>;
}

/** Turns what was read from a modal into a decision. */
export function toDecision<Value>(
  parsed: Submission<Value>,
  build: (value: Value) => Decision,
): Submission<Decision> {
  return parsed.ok ? { ok: true, value: build(parsed.value) } : parsed;
}
