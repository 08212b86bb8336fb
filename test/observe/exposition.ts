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
      types.set(of, rest);
    }
    if (word !== undefined) continue;
    const [, name, labels = '', value = ''] = SAMPLE.exec(line) ?? [];
    if (name === undefined) throw new Error(`Not a line of the format: ${line}`);
    const family = [name, name.replace(/_(bucket|sum|count)$/, '')].find((each) => types.has(each));
    if (family === undefined || !helped.has(family)) throw new Error(`${name} has no HELP or TYPE before it`);
    samples.push({ name, labels: parseLabels(labels), value: Number(value.replace('Inf', 'Infinity')) });
  }
  return { types, samples };
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
