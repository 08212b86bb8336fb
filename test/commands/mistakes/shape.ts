import { CAST } from '../../../playground/slack/default-cast.ts';
import { SLACK } from './good-manifest.ts';
import { collect } from './mistake.ts';

const { mistakes, kind } = collect();

/** Keys, values, indentation, and what Slack needs. */
export const shape = mistakes;

const self = kind('approvers who are the only requesters');
const DEPLOY = `allow: { people: [${CAST.alice}, ${CAST.requester}] }\n    approval: { policy: owner }`;
const deploy = (people: string, policy: string): string =>
  `allow: { people: [${people}] }\n    approval: { policy: ${policy} }`;
const SOLO = `  solo: { approvers: ▸[${CAST.alice}] }\n`;
self(
  'limits:\n',
  `${SOLO}limits:\n`,
  /only U\w+ may use "deploy", and nobody approves their own request: 1 must approve, but only 0 can/,
  [DEPLOY, deploy(CAST.alice, 'solo')],
);
self(
  'limits:\n',
  `  solo: { approvers: [${CAST.alice}, ${CAST.requester}], quorum: ▸2 }\nlimits:\n`,
  /nobody approves their own request: 2 must approve, but only 1 can/,
  [DEPLOY, deploy(`${CAST.alice}, ${CAST.requester}`, 'solo')],
);

const slack = kind("what Slack's section lacks");
slack(
  'interactivity: { is_enabled: true }',
  'interactivity:',
  /"interactivity" is not enabled, so no button works/,
);
slack('interactivity: { is_enabled: true }', 'interactivity: { is_enabled: ▸false }', /so no button works/);
slack(
  'bot_events: [app_home_opened, app_mention, ',
  'bot_events: ▸[app_home_opened, ',
  /the event app_mention is missing/,
);
slack('bot_events: [app_home_opened, app', 'bot_events: ▸[app', /the event app_home_opened is missing/);
slack(', message.im]', ']', /the event message\.im is missing/);
slack(/bot: \[.*\]/.exec(SLACK)?.[0] ?? '', 'bot: ▸[]', /the scope chat:write is missing/);
slack('chat:write, ', '', /the scope chat:write is missing/);
slack('commands, ', '', /the scope commands is missing; the bot needs it for the slash command/);
slack(', users:read.email', '', /users:read\.email is missing/);
slack('bot_user: { display_name: countersign }', 'bot_user:', /"bot_user" is missing/);

const indent = kind('indentation');
indent('    quorum: 1\n', '  quorum: ▸1\n', /check the indentation of this line and the next/);
indent('  owner:\n', '▸owner:\n', /it looks like a policy; indent it under "policies"/);
indent('    risk: "', '   ▸risk: "', /indent it with as many spaces as the lines beside it/);
indent('    title: "Deploy', '▸\ttitle: "Deploy', /use spaces/);
indent(
  '    approval: { policy: owner }',
  '  ▸approval: { policy: owner }',
  /"approval" is a key of a tool; indent it/,
);
indent(
  '      allow_private: [localhost]\n  deploy:',
  '    ▸allow_private: [localhost]\n  deploy:',
  /unknown key "allow_private"; it is a key of http: indent it/,
);
indent(
  `agent:\n  admins: [${CAST.admin}]\n`,
  `▸admins: [${CAST.admin}]\nagent:\n`,
  /unknown key "admins"; it is a key of agent: indent it/,
);
indent(
  '    notify: { remind: 1h }\n',
  '  ▸notify: { remind: 1h }\n',
  /"notify" is a key of a policy; indent it further/,
);

const keys = kind('a wrong key or value');
keys('    expires: 4h', '    ▸expire: 4h', /did you mean "expires"/);
keys('expires: 4h', 'expires: ▸4 hours', /is not a duration such as 30s/);
keys('quorum: 1', 'quorum: ▸one', /expected a whole number/);
keys('- { policy: default }\n  cancel', '- { ▸polcy: default }\n  cancel', /did you mean "policy"/);
keys('Europe/Berlin', '▸Europe/Berln', /there is no time zone "Europe\/Berln"/);
keys('remind: 1h', 'remind: ▸5h', /nobody would be reminded/);
keys('escalate: { after: 4h', 'escalate: { after: ▸9h', /nobody would be asked/);
keys(
  `approvers: [${CAST.alice}, ${CAST.admin}]`,
  `approvers: [${CAST.alice}, ▸"@admin"]`,
  /the id of a person/,
);
keys(
  `approvers: [${CAST.alice}, ${CAST.admin}]`,
  `approvers: [${CAST.alice}, ${CAST.admin}]\n    quorum: ▸3`,
  /3 must approve, but only 2 can/,
);
keys('method: DELETE', 'method: ▸REMOVE', /is not one of GET/);
keys(
  'require: deny, when: "input.reason == \'fraud\'", reason: Fraud is for Finance.',
  'require: deny, when: "input.reason == \'fraud\'"',
  /"reason" is missing/,
);
keys('"http://localhost:9/refunds/', '▸"http://10.0.0.8:9/refunds/', /is a private address/);
keys('      command: node', '      command: ▸nodee', /there is no command "nodee"/);

const calendar = kind('a change freeze that does not hold');
const CALENDAR = 'limits:\n';
calendar(
  CALENDAR,
  'freezes:\n  - { name: Sale, from: "2026-11-26 18:00", to: ▸"2026-11-20 08:00" }\nlimits:\n',
  /it would end before it begins/,
);
calendar(
  CALENDAR,
  'freezes:\n  - { name: Sale, from: "2026-11-26 18:00", to: "2026-12-01 08:00", tools: [▸deploi] }\nlimits:\n',
  /there is no tool "deploi"; did you mean "deploy"/,
);
calendar(
  CALENDAR,
  'freezes:\n  - { name: Sale, from: ▸26.11.2026, to: "2026-12-01 08:00" }\nlimits:\n',
  /is not a date or a day of the week with a time/,
);

const beside = kind('a key beside its section');
beside('    notify: { remind: 1h }', '    ▸remind: 1h', /"remind" is a key of "notify"/);
beside(
  '  time_zone: Europe',
  '  ▸temperature: 0.5\n  time_zone: Europe',
  /"temperature" is a key of "model"/,
);
