import { z } from 'zod';
import { toJson } from '../../agent/json.ts';
import type { Interrupt } from '../../agent/messages.ts';
import type { Tool, ToolContext } from '../../agent/tool.ts';
import type { ApprovalRules, ApprovalVerdict } from './approval-rules.ts';
import { type PolicyOf, strictestVerdict } from './strictest.ts';

const Approval = z.object({ policy: z.string(), rule: z.string() });
/** The policy that must approve a gated call, and the rule that requires it. */
export type Approval = Readonly<z.infer<typeof Approval>>;

const FormerPreview = z.object({ before: z.string(), after: z.string() });

/**
 * The metadata of a restart: `approved` opens the gate, `edited` asks for approval of the new input even where no rule would. `own`
 * marks the reply to an interrupt of the tool itself; such a call has already passed the gate. `changed` asks anew because the preview
 * that people approved is no longer true; the former preview is kept beside the new one.
 */
const Resumed = z.discriminatedUnion('decision', [
  z.object({ decision: z.literal('approved'), by: z.string(), own: z.boolean() }),
  z.object({ decision: z.literal('edited'), by: z.string(), policy: z.string() }),
  z.object({
    decision: z.literal('changed'),
    /** The person who edited the call before, if somebody did. */
    by: z.string().nullable(),
    policy: z.string(),
    previousPreview: FormerPreview,
  }),
]);
export type GateResumed = Readonly<z.infer<typeof Resumed>>;

const Caller = z.object({
  requester: z.string().catch(''),
  requesters: z.array(z.string()).min(1).optional().catch(undefined),
  contextAuthors: z.array(z.string()).catch([]),
  channel: z.string().catch(''),
});

type Action = Extract<Tool, { kind: 'tool' }>;

/** Puts a tool behind its rules: it runs when they require no approval for anyone whose words led to the call, or in a restart that says who approved it. */
export function gate(tool: Action, rules: ApprovalRules, policyOf: PolicyOf = () => undefined): Action {
  const admit: Action['admit'] = (input, helpers) => {
    const resumed = helpers.resumed === undefined ? undefined : Resumed.safeParse(helpers.resumed).data;
    if (resumed?.decision === 'approved') {
      return () => tool.run(input, resumed.own ? helpers : { ...helpers, resumed: undefined });
    }
    const verdict = applyRules(rules, policyOf, { tool: tool.name, input, context: helpers.context });
    // An editor is on record with the pause, because they have to be known as a requester from then on.
    const editor = resumed?.by ?? undefined;
    const kept = {
      ...(editor !== undefined && { editedBy: editor }),
      ...(resumed?.decision === 'changed' && { previousPreview: resumed.previousPreview }),
    };
    if (verdict.needed)
      return helpers.interrupt({ approval: { policy: verdict.policy, rule: verdict.rule }, ...kept });
    if (resumed !== undefined && editor !== undefined) {
      const rule = `edited by ${editor}`;
      return helpers.interrupt({ approval: { policy: resumed.policy, rule }, ...kept });
    }
    return () => tool.run(input, { ...helpers, resumed: undefined });
  };
  return { ...tool, admit, run: (input, helpers) => admit(input, helpers)() };
}

function applyRules(
  rules: ApprovalRules,
  policyOf: PolicyOf,
  { tool, input, context }: { readonly tool: string; readonly input: unknown; readonly context: ToolContext },
): ApprovalVerdict {
  const { requester, requesters, contextAuthors, channel } = Caller.parse(context);
  return strictestVerdict(
    rules,
    { tool, input: toJson(input), requesters: requesters ?? [requester], contextAuthors, channel },
    policyOf,
  );
}

const Previous = z.object({ previousPreview: FormerPreview });

/** Returns the preview that people approved before it changed, if the call is asked anew for that. */
export function previousPreviewOf(interrupt: Interrupt): z.infer<typeof FormerPreview> | undefined {
  return Previous.safeParse(interrupt.metadata).data?.previousPreview;
}

const Editor = z.object({ editedBy: z.string() });

/** Returns the person who edited the call of an interrupt, if somebody did. */
export function editorOf(interrupt: Interrupt): string | undefined {
  return Editor.safeParse(interrupt.metadata).data?.editedBy;
}

/** Returns the approval that an interrupt waits for, if it is the gate's. */
export function approvalOf(interrupt: Interrupt): Approval | undefined {
  return Approval.safeParse(interrupt.metadata?.approval).data;
}
