import { CAST } from '../../../playground/slack/default-cast.ts';
import { collect } from './mistake.ts';

const { mistakes, kind } = collect();

/** What is valid and hardly meant: `manifest check` warns. */
export const doubts = mistakes;

const units = kind('a unit that the texts contradict');
units(
  'max: 50000',
  'max: ▸500',
  /one call of up to 5000, which a rule lets run, is over this limit.*so 500 is 5\.00/,
);
units(
  '{ policy: finance, when: "input.amount > 10000 || now',
  '{ policy: finance, because: ▸"refunds over $10,000", when: "input.amount > 10000 || now',
  /as cents, so 10000 in its rule is 100\.00/,
);

const REST = `      - { policy: finance, when: "input.amount > 10000 || now.weekday in ['saturday', 'sunday']" }
      - { require: never, when: "input.amount <= 5000 && now.hour >= 8" }
      - { policy: default }
`;
const gap = kind('a gap beside a rule that cannot be compared');
gap(
  REST,
  `      - { policy: finance, when: "input.amount > 10000" }
      - { require: never, when: "input.amount <= 5000" }
      - ▸{ policy: finance, when: "now.hour >= 8 && input.amount < 9000" }
`,
  /not checked: input\.amount == \d+ fits no rule, unless /,
);

const owner = kind('a caller whose owner alone could approve');
const CALLER = (more: string) =>
  `callers:\n  job: { owner: ▸${CAST.alice}, identity: { key: "\${SHOP_KEY}" }, channel: C0GENERAL1, ${more} }\naudit:\n`;
const ONLY_ALICE = [
  'approvers: [S0APPROVE1]\n    quorum: 1',
  `approvers: [${CAST.alice}]\n    quorum: 1`,
] as const;
owner(
  'audit:\n',
  CALLER('ask: [default]'),
  /without U\w+ too few can approve under the policy "default"/,
  ONLY_ALICE,
);
owner(
  'audit:\n',
  CALLER('tools: [refund_order]'),
  /too few can approve under the policy "default"/,
  ONLY_ALICE,
);

const zone = kind('a time zone without summer time');
zone('time_zone: Europe/Berlin', 'time_zone: ▸EST', /EST has no summer time; write America\/New_York/);

const freeze = kind('a freeze that never holds');
freeze(
  'limits:\n',
  'freezes:\n  - { name: Sale, from: "2024-11-26 18:00", to: ▸"2024-12-01 08:00" }\nlimits:\n',
  /this freeze is over; remove it/,
);
freeze(
  'limits:\n',
  'freezes:\n  - { name: Weekend, from: "friday 18:00", to: ▸"2030-12-01 08:00" }\nlimits:\n',
  /both dates, or both days of the week/,
);
freeze(
  'limits:\n',
  'freezes:\n  - { name: Incident, while: { tool: get_order, when: "▸outptu.open > 0" } }\nlimits:\n',
  /unknown variable "outptu"/,
);
freeze(
  'limits:\n',
  'freezes:\n  - { name: Incident, while: { tool: ▸get_ordr, when: "output.open > 0" } }\nlimits:\n',
  /there is no tool "get_ordr"; did you mean "get_order"/,
);

const effect = kind('an effect that the method contradicts');
effect(
  '    title: "Refund {{input.amount',
  '    effect: ▸none\n    title: "Refund {{input.amount',
  /a POST mostly changes something/,
);

const preview = kind('a preview by a tool that needs approval');
preview(
  'approval: { require: never }\n',
  'approval: { policy: default }\n',
  /"get_order" needs approval itself, so there is never a preview/,
);

const optional = kind('an optional argument without has()');
optional(
  `"input.reason == 'fraud'"`,
  `"▸input.reason == 'fraud'"`,
  /"reason" is optional.*has\(input\.reason\) && …/,
  ['required: [order, amount, reason]', 'required: [order, amount]'],
);

const variable = kind('a variable of another condition');
variable('"input.reason ==', '"▸approved && input.reason ==', /only the "when" of a limit knows "approved"/);
variable(
  '"input.amount > 10000 ||',
  '"▸output.amount > 10000 ||',
  /only the "when" of a freeze knows "output"/,
);

const path = kind('a path that the answer does not have', 'nobody');
path('before: "{{output.total}}"', 'before: "{{output.totl}}"', /totl/);
