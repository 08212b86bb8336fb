import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { CloudEvent, HTTP } from 'cloudevents';
import { Webhook } from 'standardwebhooks';
import { signedHeaders } from '../src/door/webhooks.ts';
import { playDay } from './played-day.ts';
import { count, fail, newTally, type Suite } from './suite.ts';

const require = createRequire(import.meta.url);

/** Every event of the audit log that the endpoint of a bot gets in a day, as the SDK of CloudEvents reads it. */
export const cloudEvents: Suite = {
  name: 'CloudEvents 1.0, the audit log as it is posted',
  source: '`cloudevents` 10.0.0',
  hole: 'an event has no source',
  async run({ isLoosened }) {
    const tally = newTally();
    const { posted } = await playDay();
    for (const [index, { headers, body }] of posted.entries()) {
      const sent = isLoosened ? body.replace(/"source":"[^"]*",/, '') : body;
      count(tally, `event ${index}`, wrongInEvent(headers, sent));
    }
    return tally;
  },
};

function wrongInEvent(headers: Readonly<Record<string, string>>, body: string): string[] {
  try {
    const event = HTTP.toEvent<unknown>({ headers, body });
    if (!(event instanceof CloudEvent)) return ['it is no event'];
    event.validate();
    // The SDK takes any name; the specification wants lower-case letters and digits.
    return Object.keys(event.toJSON())
      .filter((name) => name !== 'data_base64' && !/^[a-z0-9]+$/.test(name))
      .map((name) => `the attribute ${name} has a name that is not allowed`);
  } catch (error) {
    return [String(error)];
  }
}

/** Names of our own, which no convention has. */
const OURS = /^countersign\./;

/** Every name of an attribute of a span in a day, and the values of those whose values are listed. */
export const openTelemetry: Suite = {
  name: 'OpenTelemetry semantic conventions, the names on spans',
  source: '`@opentelemetry/semantic-conventions` 1.45.0 (incubating)',
  hole: '`gen_ai.system`, which is deprecated, in place of `gen_ai.provider.name`',
  async run({ isLoosened }) {
    const tally = newTally();
    const { names, values } = readConventions();
    const { spans } = await playDay();
    const seen = new Map<string, Set<unknown>>();
    for (const [key, value] of spans.flatMap(({ attributes }) => Object.entries(attributes))) {
      const name = isLoosened && key === 'gen_ai.provider.name' ? 'gen_ai.system' : key;
      seen.set(name, (seen.get(name) ?? new Set()).add(value));
    }
    for (const [name, used] of seen) {
      if (OURS.test(name)) continue;
      count(tally, name, names.has(name) ? [] : ['no such attribute, or a deprecated one']);
      const listed = values.get(name);
      if (listed === undefined) continue;
      for (const value of used)
        count(tally, `${name} = ${String(value)}`, listed.has(String(value)) ? [] : ['no such value']);
    }
    return tally;
  },
};

/** A constant of the package, with its comment. */
const CONSTANT = /\/\*\*((?:(?!\*\/).)*)\*\/\s*declare const (\w+): "([^"]*)";/gs;

/** Reads the attributes that nothing has replaced, and the values that are listed for those about models. */
function readConventions() {
  const folder = dirname(require.resolve('@opentelemetry/semantic-conventions'));
  const names = new Set<string>();
  const values = new Map<string, Set<string>>();
  for (const file of ['stable_attributes.d.mts', 'experimental_attributes.d.mts']) {
    for (const [, comment = '', constant = '', value = ''] of readFileSync(
      join(folder, file),
      'utf8',
    ).matchAll(CONSTANT)) {
      // The attributes about models have moved to a repository of their own, and hold there.
      if (/@deprecated (?!Moved to)/.test(comment)) continue;
      if (constant.startsWith('ATTR_')) names.add(value);
      const [, key = ''] = /^(GEN_AI_.+)_VALUE_/.exec(constant) ?? [];
      const attribute = key
        .toLowerCase()
        .replace(/^gen_ai_/, 'gen_ai.')
        .replaceAll(/(?<=\..*)_/g, '.');
      if (key !== '') values.set(attribute, (values.get(attribute) ?? new Set()).add(value));
    }
  }
  return { names, values };
}

/** Every metric on the page of `/metrics` after a day. */
export const prometheus: Suite = {
  name: 'Prometheus naming rules, the page of `/metrics`',
  source: '`promtool check metrics`, of the Prometheus on the PATH',
  hole: 'a counter without `_total`',
  async run({ isLoosened }) {
    const tally = newTally();
    const { metrics } = await playDay();
    const page = isLoosened ? metrics.replaceAll('countersign_turns_total', 'countersign_turns') : metrics;
    const { error, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], {
      input: page,
      encoding: 'utf8',
    });
    if (error !== undefined)
      throw new Error('promtool is not on the PATH: install Prometheus', { cause: error });
    const complaints = `${stdout}${stderr}`.split('\n').filter((line) => line !== '');
    for (const [, name = ''] of page.matchAll(/^# TYPE (\S+)/gm)) {
      const [complaint] = complaints.filter((line) => line.startsWith(`${name} `));
      const isOurs = name.startsWith('countersign_');
      if (complaint === undefined) tally.passed += 1;
      else fail(tally, complaint, isOurs ? undefined : 'a metric that `prom-client` itself adds');
    }
    return tally;
  },
};

const SECRET = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
/** The vector in the tests of all libraries of Standard Webhooks. */
const VECTOR = {
  id: 'msg_p5jXN8AQM9LWM0D4loKWxJek',
  at: new Date(1_614_265_330_000),
  body: '{"test": 2432232314}',
  signature: 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
};
const BODIES = [
  '{}',
  '{"amount":1}',
  '{"title":"Ærø 🚢"}',
  '{"text":"\\u200b\\n"}',
  `["${'x'.repeat(60_000)}"]`,
];

/** Every message as a receiver with the library of Standard Webhooks takes it, and the vector of the libraries. */
export const standardWebhooks: Suite = {
  name: 'Standard Webhooks, what callers are sent',
  source: '`standardwebhooks` 1.1.1',
  hole: 'the body is not signed',
  async run({ isLoosened }) {
    const tally = newTally();
    const sign = (id: string, at: Date, body: string) =>
      signedHeaders(SECRET, id, at, isLoosened ? '' : body);
    const { id, at, body, signature } = VECTOR;
    count(
      tally,
      'the vector',
      sign(id, at, body)['webhook-signature'] === signature ? [] : ['another signature'],
    );
    for (const [index, each] of BODIES.entries())
      count(tally, `message ${index}`, wrongForReceiver(sign(`msg_${index}`, new Date(), each), each));
    return tally;
  },
};

function wrongForReceiver(headers: Readonly<Record<string, string>>, body: string): string[] {
  try {
    new Webhook(SECRET).verify(body, headers);
    return [];
  } catch (error) {
    return [String(error)];
  }
}
