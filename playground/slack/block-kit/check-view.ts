import { z } from 'zod';
import { LIMITS } from '../limits.ts';
import { checkBlocks, describeIssue, type Problem } from './check-blocks.ts';
import { plainText, text } from './composition.ts';

const common = {
  blocks: z.array(z.looseObject({ type: z.string() })),
  private_metadata: z.string().max(LIMITS.privateMetadata).optional(),
  callback_id: z.string().max(LIMITS.callbackId).optional(),
  external_id: z.string().max(LIMITS.externalId).optional(),
};

const modalView = z.strictObject({
  type: z.literal('modal'),
  ...common,
  title: plainText(LIMITS.viewTitle),
  submit: plainText(LIMITS.viewButton).optional(),
  close: plainText(LIMITS.viewButton).optional(),
  clear_on_close: z.boolean().optional(),
  notify_on_close: z.boolean().optional(),
  submit_disabled: z.boolean().optional(),
});

const homeView = z.strictObject({ type: z.literal('home'), ...common, title: text(LIMITS.text).optional() });

/** A view as an app sends it, before Slack gives it an id. */
const viewDefinition = z.discriminatedUnion('type', [modalView, homeView]);
export type ViewDefinition = z.infer<typeof viewDefinition>;

/** A view that Slack accepts, or everything it would refuse in it. */
export type CheckedView = { ok: true; view: ViewDefinition } | { ok: false; problems: Problem[] };

/** Checks a view and its blocks; a modal that holds an input must have a submit button. */
export function checkView(candidate: unknown, wanted: ViewDefinition['type'], at = '/view'): CheckedView {
  const parsed = viewDefinition.safeParse(candidate);
  if (!parsed.success)
    return { ok: false, problems: parsed.error.issues.flatMap((issue) => describeIssue(issue, at)) };
  const view = parsed.data;
  if (view.type !== wanted)
    return { ok: false, problems: [{ pointer: `${at}/type`, reason: `must be ${wanted}` }] };
  const problems = checkBlocks(view.blocks, view.type, `${at}/blocks`);
  const hasInput = view.blocks.some((block) => block.type === 'input');
  if (view.type === 'modal' && hasInput && view.submit === undefined) {
    problems.push({ pointer: at, reason: 'missing required field: submit' });
  }
  return problems.length === 0 ? { ok: true, view } : { ok: false, problems };
}
