import { CALLER_ACTION_TOOL, ExactAction } from '../../../tools/toolbox/caller-action.ts';
import { cardTexts } from '../texts/cards.ts';
import { words } from '../texts/format.ts';
import { buildCallBody, type CallBody, DIFF } from './call-body.ts';
import { context } from './card.ts';
import type { CardDetails } from './card-details.ts';

/** Shows what will run: a call, or the exact thing that a caller runs itself. */
export function buildBody(details: CardDetails): CallBody {
  const action = details.name === CALLER_ACTION_TOOL ? Action.safeParse(details.input).data : undefined;
  return action === undefined ? buildCallBody(details) : buildCallerBody(details, action);
}

const Action = ExactAction.loose();

/** The digits of a file's digest that a card shows; Details has all. */
const DIGITS = 12;

/** Shows an action of a caller as a review: the command and the changes as they are laid out, each file with the start of its digest. */
function buildCallerBody(details: CardDetails, action: ExactAction): CallBody {
  const { presented } = details;
  const [where, ...others] = presented.fields;
  const { command, directory, files, diff } = action;
  const told = [command, directory, diff, ...(files ?? []).map(({ path }) => path)];
  const format = new Map([
    [command, 'code'],
    [diff, DIFF],
  ]);
  // Its own fields tell all that runs.
  const own = others.filter(({ argument }) => argument === undefined);
  const fields = own.map((field) => {
    if (field.text === '' || !told.includes(field.text)) return field;
    return { ...field, format: format.get(field.text) };
  });
  const body = buildCallBody({
    ...details,
    // The caller is in the title, and its policy beside: nothing else of it runs.
    presented: { ...presented, fields: fields.map((field) => withDigits(field, files)), isComplete: true },
  });
  return { ...body, blocks: [...body.blocks, ...(where === undefined ? [] : [context(words(where.text))])] };
}

type Field = CardDetails['presented']['fields'][number];

function withDigits(field: Field, files: ExactAction['files'] = []): Field {
  const isFiles = files.length > 0 && files.every(({ sha256 }) => field.text.includes(`sha256:${sha256}`));
  if (!isFiles) return field;
  const lines = files.map(({ path, sha256 }) => `${path} ${spaced(sha256.slice(0, DIGITS))}`);
  return { ...field, text: [...lines, cardTexts.filesCompared].join('\n') };
}

/** Sets digits apart, as people compare them. */
function spaced(digits: string): string {
  return digits.replace(/(.{4})(?=.)/g, '$1 ');
}
