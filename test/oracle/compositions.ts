import fc from 'fast-check';
import { allow, GROUPS, PEOPLE, rule, TOOL } from '../tools/gate/arbitraries.ts';
import type { ReferenceCall, ReferencePolicy, ReferenceTool } from '../tools/gate/reference.ts';

/** A policy with what may lower the number of clicks: an approver that the call names, delegation, and grants. */
export interface OraclePolicy extends Omit<ReferencePolicy, 'groups'> {
  /** With `from`, the person whom `input.owner` names is in the group as well. */
  readonly groups: readonly {
    readonly any: readonly string[];
    readonly quorum: number;
    readonly from: boolean;
  }[];
  readonly delegation: boolean;
  /** Whether approvers sign with a passkey. */
  readonly passkey: boolean;
  /** With `most`, a grant is for amounts up to it, otherwise for the same arguments. */
  readonly grants:
    | { readonly uses: number; readonly scope: 'thread' | 'requester'; readonly most: number | undefined }
    | undefined;
}

export interface OracleLimit {
  readonly sums: boolean;
  readonly per: 'requester' | 'channel' | 'tool';
  readonly max: number;
  /** Asked for what is over the limit; `undefined` denies it. */
  readonly policy: string | undefined;
}

export interface OracleRules extends ReferenceTool {
  readonly policies: Readonly<Record<string, OraclePolicy>>;
  readonly limits: readonly OracleLimit[];
}

export type Standing = 'active' | 'guest' | 'foreign' | 'gone' | 'bot';

export interface OracleCall extends ReferenceCall {
  readonly thread: string;
  /** The policies that were asked before a person edited the call: it needs an approval whatever the rules say of it now. */
  readonly editedUnder?: readonly string[] | undefined;
}

/** An approval with the places that it could fill when it was given, by policy: a person (its own, or one stood for) and a group. */
export interface Approval {
  readonly who: string;
  readonly grants: boolean;
  readonly delegators: readonly string[];
  readonly places: Readonly<Record<string, readonly string[]>>;
}

/** A grant that a complete approval has left. */
export interface Grant {
  readonly call: OracleCall;
  readonly policy: string;
  readonly signers: readonly Approval[];
  used: number;
  /** Whether the bot must know it. */
  readonly isSure: boolean;
}

/** Four people whom conditions name, and two who only decide. */
export const EVERYBODY = [...PEOPLE, 'U0EVA00005', 'U0FAY00006'];
export const THREADS = ['C0ONE00001:1700000000.000001', 'C0TWO00002:1700000000.000002'];
const DECISIONS = [
  'approve',
  'approve',
  'grant',
  'grant',
  'grant',
  'grant',
  'reject',
  'withdraw',
  'run-again',
] as const;

/**
 * One thing that happens; a click is for what waits in the thread, or with `late` for what waited there before, and with `apt` it is one
 * of somebody who may approve it, if there is anybody.
 */
export type Step =
  | {
      readonly do: 'ask';
      readonly by: string;
      readonly thread: string;
      readonly input: ReferenceCall['input'];
      readonly breaks: boolean;
    }
  | { readonly do: 'repeat'; readonly thread: string }
  | { readonly do: 'remark'; readonly by: string; readonly thread: string }
  | {
      readonly do: 'click';
      readonly by: string;
      readonly thread: string;
      readonly what: (typeof DECISIONS)[number];
      readonly late: boolean;
      readonly apt: boolean;
      /** Whether the person's passkey signs, where that is asked for. */
      readonly signs: boolean;
    }
  | {
      readonly do: 'edit';
      readonly by: string;
      readonly thread: string;
      readonly input: ReferenceCall['input'];
    }
  | { readonly do: 'standing'; readonly of: string; readonly standing: Standing }
  | { readonly do: 'leave'; readonly of: string; readonly group: string }
  | {
      readonly do: 'delegate';
      readonly from: string;
      readonly to: string | undefined;
      /** Whether the approver signs it with their passkey. */
      readonly signs: boolean;
    }
  | { readonly do: 'freeze'; readonly on: boolean };

export interface Composition {
  readonly rules: OracleRules;
  readonly standing: Readonly<Record<string, Standing>>;
  readonly members: Readonly<Record<string, readonly string[]>>;
  readonly steps: readonly Step[];
}

export function emailOf(person: string): string {
  return `${person.toLowerCase()}@example.com`;
}

const person = fc.constantFrom(...EVERYBODY);
const thread = fc.constantFrom(...THREADS, ...THREADS.slice(0, 1));
const rules = fc.array(
  fc.oneof(
    { weight: 1, arbitrary: rule },
    { weight: 4, arbitrary: rule.filter(({ require, match }) => require !== 'deny' && match !== 'other*') },
  ),
  { maxLength: 3 },
);
const input: fc.Arbitrary<ReferenceCall['input']> = fc.record(
  {
    amount: fc.constantFrom<unknown>(0, 5, 5, 10, 10, 15, 21, -3, '7', null),
    owner: fc.constantFrom(...EVERYBODY.slice(2).map(emailOf), 'nobody@example.com'),
  },
  { requiredKeys: [] },
);
const policy: fc.Arbitrary<OraclePolicy> = fc.record({
  groups: fc.array(
    fc.record({
      any: fc
        .tuple(fc.subarray(GROUPS, { minLength: 1 }), fc.subarray(EVERYBODY, { maxLength: 1 }))
        .map(([groups, people]) => [...groups, ...people]),
      quorum: fc.constantFrom(1, 1, 2),
      from: fc.constantFrom(true, false, false, false),
    }),
    { minLength: 1, maxLength: 2 },
  ),
  excluded: fc.subarray(EVERYBODY, { maxLength: 1 }),
  selfApproval: fc.constantFrom(true, false, false),
  separation: fc.constantFrom('requesters', 'thread'),
  delegation: fc.boolean(),
  passkey: fc.constantFrom(true, false, false),
  grants: fc.option(
    fc.record({
      uses: fc.integer({ min: 1, max: 2 }),
      scope: fc.constantFrom('thread', 'requester'),
      most: fc.constantFrom(undefined, 5, 10),
    }),
    { nil: undefined },
  ),
});
const limit: fc.Arbitrary<OracleLimit> = fc.record({
  sums: fc.boolean(),
  per: fc.constantFrom('requester', 'channel', 'tool'),
  max: fc.integer({ min: 1, max: 25 }),
  policy: fc.constantFrom(undefined, 'default', 'one', 'two'),
});
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('ask'),
      by: fc.constantFrom(...PEOPLE),
      thread,
      input,
      breaks: fc.constantFrom(true, false, false, false, false),
    }),
  },
  {
    weight: 12,
    arbitrary: fc.record({
      do: fc.constant('click'),
      by: person,
      thread,
      what: fc.constantFrom(...DECISIONS),
      late: fc.constantFrom(true, ...new Array<boolean>(9).fill(false)),
      apt: fc.constantFrom(true, true, true, false),
      signs: fc.constantFrom(true, true, true, false),
    }),
  },
  { weight: 5, arbitrary: fc.record({ do: fc.constant('repeat'), thread }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('remark'), by: person, thread }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('edit'), by: person, thread, input }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('standing'),
      of: person,
      standing: fc.constantFrom('active', 'gone', 'guest', 'foreign', 'bot'),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('leave'), of: person, group: fc.constantFrom(...GROUPS) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant('delegate'),
      from: person,
      to: fc.option(person, { nil: undefined, freq: 4 }),
      signs: fc.boolean(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('freeze'), on: fc.boolean() }) },
);

export const composition: fc.Arbitrary<Composition> = fc.record({
  rules: fc.record({
    rules,
    allow: fc.oneof({ weight: 3, arbitrary: fc.constant({}) }, { weight: 1, arbitrary: allow }),
    policies: fc.record({ default: policy, one: policy, two: policy }),
    limits: fc.oneof(
      { weight: 2, arbitrary: fc.constant([]) },
      { weight: 1, arbitrary: fc.array(limit, { minLength: 1, maxLength: 2 }) },
    ),
  }),
  standing: fc.record(
    Object.fromEntries(
      EVERYBODY.map((id) => [
        id,
        fc.constantFrom<Standing>(
          ...new Array<Standing>(12).fill('active'),
          'gone',
          'guest',
          'foreign',
          'bot',
        ),
      ]),
    ),
  ),
  members: fc.record(Object.fromEntries(GROUPS.map((id) => [id, fc.subarray(EVERYBODY, { minLength: 3 })]))),
  steps: fc
    .tuple(
      step.filter((each) => each.do === 'ask'),
      fc.array(step, { minLength: 4, maxLength: 14, size: 'max' }),
    )
    .map(([first, others]) => [first, ...others]),
});

/** Writes the manifest of a composition: one tool with everything that decides about it. */
export function manifestOf({ rules, allow: allowed, policies, limits }: OracleRules): string {
  return JSON.stringify({
    slack: { display_information: { name: 'Test' } },
    page: { client_id: 'one', client_secret: `\${PAGE_SECRET}` },
    agent: {
      built_ins: [],
    },
    policies: Object.fromEntries(
      Object.entries(policies).map(
        ([name, { groups, excluded, selfApproval, separation, delegation, passkey, grants }]) => [
          name,
          {
            approvers: {
              all: groups.map(({ any, quorum, from }) => ({
                any,
                quorum,
                ...(from && { from: 'input.owner' }),
              })),
              ...(excluded.length > 0 && { not: excluded }),
            },
            self_approval: selfApproval,
            separation,
            notify: { direct_messages: false },
            ...(delegation && { delegation }),
            ...(passkey && { confirm: 'passkey' }),
            ...(grants !== undefined && {
              grants: {
                for: '1h',
                uses: grants.uses,
                scope: grants.scope,
                ...(grants.most !== undefined && { when: `input.amount <= ${grants.most}` }),
              },
            }),
          },
        ],
      ),
    ),
    ...(limits.length > 0 && {
      limits: Object.fromEntries(
        limits.map(({ sums, per, max, policy }, index) => [
          `limit-${index + 1}`,
          {
            ...(sums && { sum: 'input.amount' }),
            ...{ tools: TOOL, per, max, window: '1h' },
            ...(policy !== undefined && { policy }),
          },
        ]),
      ),
    }),
    tools: {
      [TOOL]: {
        description: 'Acts.',
        input: { type: 'object' },
        target: '{{input.owner}}',
        http: { method: 'POST', url: 'https://example.com/' },
        approval: rules.map(({ when, ...rest }) => ({
          ...rest,
          ...(when !== undefined && { when: when.cel }),
          ...(rest.require === 'deny' && { reason: 'No.' }),
        })),
        ...(Object.values(allowed).some((list) => list !== undefined) && { allow: allowed }),
      },
    },
  });
}
