/** One sample of Prometheus's text format. */
export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

const NAME = '[a-zA-Z_:][a-zA-Z0-9_:]*';
const COMMENT = new RegExp(`^# (HELP|TYPE) (${NAME}) (.+)$`);
const SAMPLE = new RegExp(`^(${NAME})(?:\\{(.*)\\})? ([Nn]a[Nn]|[+-]Inf|-?[0-9.]+(?:e[+-]?[0-9]+)?)$`);
const LABEL = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(?:,|$)/gy;

/** Reads Prometheus's text format 0.0.4 strictly: every line must fit, and every sample must follow its HELP and TYPE. */
export function parseExposition(text: string): { types: ReadonlyMap<string, string>; samples: Sample[] } {
  if (!text.endsWith('\n')) throw new Error('The last line has no end');
  const types = new Map<string, string>();
  const helped = new Set<string>();
  const samples: Sample[] = [];
  for (const line of text.split('\n').filter((each) => each !== '')) {
    const [, word, of = '', rest = ''] = COMMENT.exec(line) ?? [];
    if (word === 'HELP') helped.add(of);
    if (word === 'TYPE') {
      if (types.has(of)) throw new Error(`${of} has two types`);
      if (!['counter', 'gauge', 'histogram', 'summary'].includes(rest)) throw new Error(`${of} is a ${rest}`);
      if (rest === 'counter' && !of.endsWith('_total')) throw new Error(`${of} does not end with _total`);
      types.set(of, rest);
    }
    if (word !== undefined) continue;
    const [, name, labels = '', value = ''] = SAMPLE.exec(line) ?? [];
    if (name === undefined) throw new Error(`Not a line of the format: ${line}`);
    const family = [name, name.replace(/_(bucket|sum|count)$/, '')].find((each) => types.has(each));
    if (family === undefined || !helped.has(family)) throw new Error(`${name} has no HELP or TYPE before it`);
    samples.push({ name, labels: parseLabels(labels), value: Number(value.replace('Inf', 'Infinity')) });
  }
  checkSamples(types, samples);
  return { types, samples };
}

/** Refuses what the format allows and Prometheus does not: samples twice, counters below zero, buckets that are not cumulative. */
function checkSamples(types: ReadonlyMap<string, string>, samples: readonly Sample[]): void {
  const seen = new Set<string>();
  const last = new Map<string, number>();
  for (const { name, labels, value } of samples) {
    const key = `${name} ${JSON.stringify(Object.entries(labels).sort())}`;
    if (seen.has(key)) throw new Error(`${key} comes twice`);
    seen.add(key);
    if (types.get(name) === 'counter' && !(value >= 0)) throw new Error(`${key} is below zero`);
    const { le: _le, ...others } = labels;
    const family = name.replace(/_(?:bucket|count)$/, '');
    if (family === name || types.get(family) !== 'histogram') continue;
    const group = `${family} ${JSON.stringify(Object.entries(others).sort())}`;
    const before = last.get(group) ?? 0;
    if (name.endsWith('_bucket') ? value < before : value !== before)
      throw new Error(`${key} does not follow ${before}`);
    last.set(group, value);
  }
}

function parseLabels(text: string): Record<string, string> {
  const labels: Record<string, string> = {};
  let end = 0;
  for (const match of text.matchAll(LABEL)) {
    const [whole, name = '', value = ''] = match;
    labels[name] = value;
    end = (match.index ?? 0) + whole.length;
  }
  if (end !== text.length) throw new Error(`Not labels: ${text}`);
  return labels;
}
