import { CAST } from '../../../playground/slack/default-cast.ts';
import { GOOD_MANIFEST } from './good-manifest.ts';
import { collect } from './mistake.ts';

const { mistakes, kind } = collect();

/** Conditions that cannot be true, cannot be read, or leave a gap between rules. */
export const conditions = mistakes;

const types = kind('a wrong type in a condition');
types(
  '"input.amount > 10000 ||',
  "\"input.amount > ▸'10000' ||",
  /input\.amount is a number, but '10000' is text; write it without quotes/,
);
types('"input.amount <= 5000 &&', '"input.order <= ▸5000 &&', /input\.order is text, but 5000 is a number/);
types('now.hour >= 8"', "▸now.hour >= '8'\"", />= is used for a number and text/);
types(
  'approval: { policy: owner }',
  'approval: { policy: owner, when: "input.count == ▸\'3\'" }',
  /input\.count is a number, but '3' is text/,
);
types(
  '"input.amount > 10000 ||',
  "\"▸input.amount.startsWith('1') ||",
  /input\.amount is a number, and startsWith is for text/,
);
types('"input.amount > 10000 ||', '"input.amount ▸= 10000 ||', /write == to compare/);
types('"input.amount <= 5000 &&', '"input.amount <= 5000 ▸and', /write && for and/);
types(
  '"input.amount > 10000 ||',
  '"▸input.amount ||',
  /input\.amount is a number, and \|\| is for conditions/,
);
types('"input.amount <= 5000 && now.hour >= 8"', '▸input.amount', /a condition must be true or false/);

const values = kind('a value that cannot match');
values(
  "input.reason == 'fraud'",
  "input.reason == ▸'frud'",
  /input\.reason is one of late, broken, fraud, and never "frud"; did you mean "fraud"/,
);
values(
  "input.reason == 'fraud'",
  "input.reason in ['fraud', ▸'Broken']",
  /never "Broken"; did you mean "broken"/,
);
values(
  "['saturday', 'sunday']",
  "['saturday', ▸'Sunday']",
  /now\.weekday .*never "Sunday"; did you mean "sunday"/,
);
values("['saturday', 'sunday']", "[▸'sat', 'sunday']", /never "sat"; did you mean "saturday"/);
values("now.weekday in ['saturday', 'sunday']", "now.weekday == ▸'weekend'", /never "weekend"/);
values(
  "now.weekday in ['saturday', 'sunday']",
  "now.date == ▸'24.12.2026'",
  /now\.date is written as "2026-11-16"/,
);
values(
  'approval: { policy: owner }',
  'approval: { policy: owner, when: "input.environment != ▸\'prod\'" }',
  /never "prod"/,
);
values(
  "now.weekday in ['saturday', 'sunday']",
  "requester == ▸'alice'",
  /requester is the id of a person, such as U012ABCDEF/,
);
values(
  "now.weekday in ['saturday', 'sunday']",
  "channel == ▸'#general'",
  /channel is the id of a channel, such as C012ABCDEF/,
);

const range = kind('a time that never is');
range('now.hour >= 8"', '▸now.hour >= 24"', /now\.hour is from 0 to 23, so this is never true/);
range('now.hour >= 8"', '▸now.hour == 60"', /never true/);
range('now.hour >= 8"', '▸now.minute > 59"', /now\.minute is from 0 to 59/);
range('now.hour >= 8"', '▸now.hour < 24"', /so this is always true/);
range(
  '"input.amount <= 5000 &&',
  '"▸input.amount < 1 &&',
  /input\.amount is at least 1, so this is never true/,
);

const contradiction = kind('a contradiction');
contradiction(
  '"input.amount <= 5000 &&',
  '"▸input.amount <= 5000 && input.amount > 6000 &&',
  /can never be true: .*exclude each other/,
);
contradiction(
  '"input.amount <= 5000 && now.hour >= 8"',
  '"▸now.hour < 8 && now.hour >= 18"',
  /can never be true/,
);
contradiction(
  "input.reason == 'fraud'",
  "▸input.reason == 'fraud' && input.reason == 'late'",
  /can never be true/,
);
contradiction(
  "\"input.amount > 10000 || now.weekday in ['saturday', 'sunday']\"",
  "\"▸now.weekday != 'saturday' || now.weekday != 'sunday'\"",
  /always true.*write &&/,
);
contradiction(
  "\"input.amount > 10000 || now.weekday in ['saturday', 'sunday']\"",
  '"▸input.amount > 10000 || input.amount < 20000"',
  /always true/,
);

const gap = kind('a gap between rules');
const RULES = /approval:\n( {6}- .*\n){4}/.exec(GOOD_MANIFEST)?.[0] ?? '';
const rules = (...lines: string[]): string =>
  `approval:\n${lines.map((line) => `      - ${line}\n`).join('')}`;
gap(
  RULES,
  rules(
    '{ policy: finance, when: "input.amount > 10000" }',
    '▸{ require: never, when: "input.amount < 10000" }',
  ),
  /input\.amount == 10000 fits no rule/,
);
gap(
  RULES,
  rules(
    '{ policy: finance, when: "input.amount >= 10000" }',
    '▸{ require: never, when: "input.amount <= 5000" }',
  ),
  /input\.amount == 5001 fits no rule/,
);
gap(
  RULES,
  rules(
    '{ require: never, when: "input.amount < 1000" }',
    '{ policy: default, when: "input.amount > 1000 && input.amount < 5000" }',
    '▸{ policy: finance, when: "input.amount >= 5000" }',
  ),
  /input\.amount == 1000 fits no rule/,
);

const unreachable = kind('a rule that no call reaches');
unreachable(
  RULES,
  rules('{ policy: finance }', '▸{ require: never, when: "input.amount < 1000" }'),
  /rule 1 before it decides every call/,
);
unreachable(
  RULES,
  rules(
    '{ policy: finance, when: "input.amount > 100" }',
    '▸{ require: never, when: "input.amount > 1000" }',
    '{ policy: default }',
  ),
  /rule 1 before it decides/,
);
unreachable(
  '- { policy: default }\n  cancel',
  '- { policy: default, match: ▸"refunds" }\n  cancel',
  /"refunds" does not match "refund_order"/,
);
unreachable('{ match: "get_*", require', '{ match: ▸"fetch_*", require', /"fetch_\*" matches none of/);

const groups = kind('user groups of requesters');
groups(
  '"input.amount <= 5000 && now.hour >= 8"',
  '"▸\'Finance\' in requester.groups"',
  /"Finance" is not the id of a user group/,
);
groups('"input.amount <= 5000 &&', '"▸requester.groups &&', /no such overload|is not a valid CEL condition/);
groups(
  "\"input.amount > 100000 ? 'high' : 'medium'\"",
  "\"'S0FINANCE1' in ▸requester.groups ? 'low' : 'high'\"",
  /requester\.groups is known to approval rules only/,
);
groups('allow: { people:', 'allow: { groups: [▸"@finance"], people:', /is not the id of a user group/);

const people = kind('a person in a condition');
people(
  "input.reason == 'fraud'",
  '▸input.reason == requester.email',
  /requester\.email is in small letters, and input\.reason may not be; write input\.reason\.lowerAscii\(\)/,
);
people(
  '"input.environment == \'staging\'"',
  '"▸requester.email == \'ada@shop.example\'"',
  /requester\.email is known to approval rules only/,
);
people("input.reason == 'fraud'", "requester.▸mail == ''", /requester has no "mail"/);

const FINANCE = `approvers: [${CAST.alice}, ${CAST.admin}]`;
const standIns = kind('people who may not approve, or who decide for others');
standIns(
  FINANCE,
  `approvers: { any: [${CAST.alice}, ${CAST.admin}], not: { from: ▸input.reson } }`,
  /approvers\.not\.from: input has no "reson"; did you mean "reason"/,
);
standIns(
  FINANCE,
  `approvers: { any: [${CAST.alice}, ${CAST.admin}], not: { from: ▸input.amount } }`,
  /a member ID or an email address/,
);
standIns(
  'audit:',
  `delegations: [{ from: ${CAST.alice}, to: ▸${CAST.alice}, until: "2099-01-01" }]\naudit:`,
  /nobody decides for themselves/,
);
standIns(
  'audit:',
  `delegations: [{ from: ${CAST.alice}, to: ${CAST.admin}, until: "2099-01-01", policies: [▸finances] }]\naudit:`,
  /there is no policy "finances"; did you mean "finance"/,
);
standIns(
  'audit:',
  `delegations: [{ from: ${CAST.alice}, to: ${CAST.admin}, until: ▸"2020-01-01" }]\naudit:`,
  /this delegation is over; remove it/,
);
