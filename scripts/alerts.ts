import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { z } from 'zod';

/** The facts about an alert beside its rule. `test/deploy/promtool.test.ts` holds the minutes, `test/commands/alerts.test.ts` the rest. */
interface Outage {
  /** The time from the beginning of the outage to the alert. */
  readonly minutes: number;
  /** The line of `countersign doctor` meanwhile, or `undefined` if it finds nothing; `…` stands for any text. */
  readonly doctor: string | undefined;
  /** The message in the bot's log. */
  readonly log: string | undefined;
  /** The signs of it that people see in Slack. */
  readonly people: string;
}

const NOTHING = 'nothing';

/** Every alert of `deploy/prometheus/alerts.yml`. */
export const OUTAGES: Readonly<Record<string, Outage>> = {
  CountersignRecordUnreachable: {
    minutes: 2,
    doctor: 'redis: Redis at … cannot be reached (…)',
    log: 'cannot be reached',
    people: 'no answer; what Slack sends again is answered later',
  },
  CountersignBotMissing: { minutes: 5, doctor: undefined, log: undefined, people: NOTHING },
  CountersignSlackDisconnected: {
    minutes: 2,
    doctor: 'slack bot token: Slack cannot be reached at … (…)',
    log: 'socket not opened, will retry',
    people: 'no answer, or a late one',
  },
  CountersignSlackTokenRefused: {
    minutes: 1,
    doctor: 'slack bot token: Slack rejects SLACK_BOT_TOKEN (…); copy the bot token again …',
    log: 'delivery failed, will retry',
    people: 'no answer',
  },
  CountersignRecordNotWritable: {
    minutes: 1,
    doctor: 'redis: it refuses writes: the memory of Redis is full',
    log: undefined,
    people: "admins: *I can't record anything new: …*",
  },
  CountersignRedisFillsUp: {
    minutes: 15,
    doctor: 'redis memory: … used of …; raise maxmemory …',
    log: undefined,
    people: NOTHING,
  },
  CountersignWorkStuck: {
    minutes: 11,
    doctor: 'work: a message to Slack has waited for … minutes; …',
    log: 'delivery failed, will retry',
    people: 'no card, no reply, no reminder',
  },
  CountersignWebhooksNotDelivered: {
    minutes: 11,
    doctor: 'work: a message to the webhook of a caller has waited for … minutes; …',
    log: 'webhook failed, will retry',
    people: NOTHING,
  },
  CountersignUnknownOutcome: {
    minutes: 15,
    doctor: 'work: actions with an unknown outcome: …; countersign pending names them',
    log: 'request unknown',
    people: 'a card that asks what happened',
  },
  CountersignThreadQuarantined: {
    minutes: 5,
    doctor: 'threads: … is quarantined: …',
    log: 'thread quarantined',
    people: "*I can't continue this thread: …*; admins are told",
  },
  CountersignModelFailing: {
    minutes: 13,
    doctor: 'model: …',
    log: 'model failed',
    people: '*The model failed to answer. Please try again in a moment.*',
  },
  CountersignModelRefused: {
    minutes: 1,
    doctor: 'model: …; check OPENAI_API_KEY',
    log: 'model failed',
    people: "*The model doesn't accept the bot's key. An admin needs to check it.*",
  },
  CountersignAuditNotSigned: {
    minutes: 0,
    doctor: 'audit key: the audit log is not signed: …',
    log: 'audit log is not signed: it does not continue what was signed',
    people: "admins: *The audit log isn't signed any more: …*",
  },
  CountersignAuditNotExported: {
    minutes: 6,
    doctor: 'audit export: … cannot be written; create it, or give the bot access',
    log: 'audit export failed',
    people: "admins: *The audit log isn't exported any more: …*",
  },
  CountersignToolsMissing: {
    minutes: 15,
    doctor: 'tool …: …/manifest.yml:…: …',
    log: 'started without some tools',
    people: 'Home of admins lists them',
  },
};

const Rules = z.object({
  groups: z.array(
    z.object({
      rules: z.array(
        z.object({
          alert: z.string(),
          labels: z.object({ severity: z.string() }),
          annotations: z.object({ summary: z.string(), description: z.string() }),
        }),
      ),
    }),
  ),
});

/** Writes what is known of every alert as a page: one section for what happens, and what to do. */
export function alertsPage(): string {
  const file = new URL('../deploy/prometheus/alerts.yml', import.meta.url);
  const { groups } = Rules.parse(parse(readFileSync(file, 'utf8')));
  const rows = groups
    .flatMap(({ rules }) => rules)
    .map(({ alert, labels, annotations }) => {
      const outage = OUTAGES[alert];
      if (outage === undefined) throw new Error(`scripts/alerts.ts does not have ${alert}`);
      const { minutes, doctor, log, people } = outage;
      const code = (text: string | undefined) => (text === undefined ? NOTHING : `\`${text}\``);
      const after = minutes === 0 ? 'at once' : `after ${minutes} min`;
      const name = `\`${alert}\`, ${labels.severity}, ${after}`;
      const { summary, description } = annotations;
      return `| ${[name, summary, description, code(doctor), code(log), people].join(' | ')} |`;
    });
  return `# Every alert

Made from \`deploy/prometheus/alerts.yml\` and \`scripts/alerts.ts\` by \`npm run schema\`. [Operate](operate.md) has other situations. The minutes count from the
beginning of the outage, with a scrape each 15 seconds. \`…\` stands for any text.

| alert | what happened | do | \`doctor\` says | the log says | people see |
| --- | --- | --- | --- | --- | --- |
${rows.join('\n')}
`;
}
