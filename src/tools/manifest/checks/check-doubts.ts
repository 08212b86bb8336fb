import { isJsonObject, type JsonObject, type JsonValue, pointerTo } from '../../../agent/json.ts';
import { conditionEnvironment } from '../../../policy/condition.ts';
import { matchesGlob } from '../../../policy/rules.ts';
import { parseDisplayTemplate, placeholdersIn } from '../../presentation/text-template.ts';
import type { Finding } from '../problem.ts';
import { LimitFile, RuleFile } from '../schema/policies.ts';
import { listRules } from './check-rules.ts';
import { readableParts } from './check-shape.ts';

const LimitParts = LimitFile.partial();

/** Finds what the manifest may say and hardly means; each is a warning. */
export function checkDoubts(manifest: JsonObject): Finding[] {
  const tools = entriesOf(manifest.tools).flatMap(([name, tool]) =>
    isJsonObject(tool) ? [{ name, tool, pointer: pointerTo('/tools', name), cents: centsOf(tool) }] : [],
  );
  return [
    ...tools.flatMap((each) => [
      ...checkBecause(each),
      ...checkOptional(each),
      ...checkEffect(each),
      ...checkReading(each, manifest.tools),
    ]),
    ...entriesOf(manifest.limits).flatMap(([name, limit]) => checkLimit(name, limit, tools)),
    ...pastFreezes(manifest.freezes),
    ...fixedZones(manifest),
  ];
}

interface WrittenTool {
  readonly name: string;
  readonly tool: JsonObject;
  readonly pointer: string;
  /** The inputs that its texts show as cents. */
  readonly cents: ReadonlySet<string>;
}

/** Lists the inputs that the texts of a tool write as money in cents. */
function centsOf({ title, done, fields }: JsonObject): ReadonlySet<string> {
  const texts = [title, done, ...(isJsonObject(fields) ? Object.values(fields) : [])];
  return new Set(
    texts
      .flatMap((text) =>
        typeof text === 'string' ? placeholdersIn(parseDisplayTemplate(text).template) : [],
      )
      .filter(({ root, format }) => root === 'input' && format?.args.includes('cents') === true)
      .map(({ path }) => path.join('.')),
  );
}

const COMPARED = /(?<![\w.])input\.([\w.]+)\s*(?:<=?|>=?|==)\s*(\d+(?:\.\d+)?)/g;

/** Lists the numbers with which a condition compares inputs. */
function numbersIn(when = ''): { readonly input: string; readonly number: number }[] {
  return [...when.matchAll(COMPARED)].map(([, input = '', number]) => ({ input, number: Number(number) }));
}

function rulesOf({ tool, pointer }: WrittenTool) {
  return listRules(`${pointer}/approval`, tool.approval).map(({ pointer: at, value }) => ({
    pointer: at,
    rule: readableParts(RuleFile, value),
  }));
}

const inMoney = (cents: number) => (cents / 100).toFixed(2);

/** Finds a rule whose words name the number of cents as if it were the amount. */
function checkBecause(written: WrittenTool): Finding[] {
  return rulesOf(written).flatMap(({ pointer, rule: { when, because } }) => {
    const named = [...(because ?? '').matchAll(/\d[\d,]*(?:\.\d+)?/g)].map(([text]) =>
      Number(text.replaceAll(',', '')),
    );
    const wrong = numbersIn(when).find(
      ({ input, number }) =>
        written.cents.has(input) && named.includes(number) && !named.includes(number / 100),
    );
    if (wrong === undefined) return [];
    const message = `the texts of this tool write input.${wrong.input} as cents, so ${wrong.number} in its rule is ${inMoney(wrong.number)}`;
    return [{ pointer: `${pointer}/because`, at: 'value', message }];
  });
}

/** Finds a limit that is lower than an amount which the rules expect in one call. */
function checkLimit(name: string, limit: JsonValue, tools: readonly WrittenTool[]): Finding[] {
  const { tools: match = name, sum, max } = readableParts(LimitParts, limit);
  const input = /^input\.([\w.]+)$/.exec(sum ?? '')?.[1];
  if (input === undefined || max === undefined) return [];
  const counted = tools.filter((each) => matchesGlob(match, each.name));
  const cents = counted.some((each) => each.cents.has(input));
  const expected = counted
    .flatMap(rulesOf)
    .flatMap(({ rule: { require, when } }) => (require === 'never' ? numbersIn(when) : []))
    .find((each) => each.input === input && each.number > max);
  if (expected === undefined) return [];
  const unit = cents ? `; the texts write it as cents, so ${max} is ${inMoney(max)}` : '';
  const message = `one call of up to ${expected.number}, which a rule lets run, is over this limit${unit}`;
  return [{ pointer: `${pointerTo('/limits', name)}/max`, at: 'value', message }];
}

/** Finds conditions over an argument that a call may leave out, without has(). */
function checkOptional(written: WrittenTool): Finding[] {
  const { input } = written.tool;
  if (written.tool.http === undefined || !isJsonObject(input) || !isJsonObject(input.properties)) return [];
  const { properties, required } = input;
  const needed = Array.isArray(required) ? required : [];
  const optional = Object.entries(properties)
    .filter(([name, schema]) => !needed.includes(name) && !(isJsonObject(schema) && 'default' in schema))
    .map(([name]) => name);
  return rulesOf(written).flatMap(({ pointer, rule: { when = '' } }) => {
    if (!conditionEnvironment.check(when).valid) return [];
    const name = optional.find(
      (each) =>
        new RegExp(`(?<![\\w."'])input\\.${each}(?!\\w)`).test(when) &&
        !new RegExp(`has\\(\\s*input\\.${each}\\s*\\)`).test(when),
    );
    if (name === undefined) return [];
    const inside = when.search(new RegExp(`input\\.${name}(?!\\w)`));
    const message = `"${name}" is optional, and a call without it leaves this rule in doubt, which only adds approvals; write has(input.${name}) && …, or list it under "required"`;
    return [{ pointer: `${pointer}/when`, at: 'value', inside, message }];
  });
}

/** Finds a request that writes by its method and is said to have no effect. */
function checkEffect({ tool, pointer }: WrittenTool): Finding[] {
  const method = isJsonObject(tool.http) ? tool.http.method : undefined;
  if (tool.effect !== 'none' || method === undefined || method === 'GET') return [];
  const message = `a ${String(method)} mostly changes something; with "effect: none" it runs in every freeze, and again after a crash`;
  return [{ pointer: `${pointer}/effect`, at: 'value', message }];
}

/** Finds a preview by a tool that needs approval itself, so that it always fails. */
function checkReading({ tool, pointer }: WrittenTool, tools: JsonValue | undefined): Finding[] {
  const used = isJsonObject(tool.preview) ? tool.preview.tool : undefined;
  const reading = typeof used === 'string' && isJsonObject(tools) ? tools[used] : undefined;
  if (!isJsonObject(reading) || reading.mcp !== undefined) return [];
  const rules = listRules('', reading.approval).map(({ value }) => readableParts(RuleFile, value));
  if (rules.some(({ require }) => require === 'never')) return [];
  const message = `"${String(used)}" needs approval itself, so there is never a preview; give it "approval: never"`;
  return [{ pointer: `${pointer}/preview/tool`, at: 'value', message }];
}

/** Finds freezes that are over. */
function pastFreezes(freezes: JsonValue | undefined): Finding[] {
  const today = new Date().toISOString().slice(0, 10);
  return (Array.isArray(freezes) ? freezes : []).flatMap((freeze: JsonValue, index): Finding[] => {
    const to = isJsonObject(freeze) ? freeze.to : undefined;
    if (typeof to !== 'string' || !/^\d{4}-/.test(to) || to.slice(0, 10) >= today) return [];
    return [{ pointer: `/freezes/${index}/to`, at: 'value', message: 'this freeze is over; remove it' }];
  });
}

const ZONES: Readonly<Record<string, string>> = {
  EST: 'America/New_York',
  MST: 'America/Denver',
  HST: 'Pacific/Honolulu',
};

/** Finds names of time zones that have no summer time. */
function fixedZones(manifest: JsonObject): Finding[] {
  const visit = (value: JsonValue, pointer: string): Finding[] => {
    const entries = isJsonObject(value) || Array.isArray(value) ? Object.entries<JsonValue>(value) : [];
    return entries.flatMap(([key, entry]): Finding[] => {
      const at = pointerTo(pointer, key);
      const meant = key === 'time_zone' && typeof entry === 'string' ? ZONES[entry] : undefined;
      if (meant === undefined) return visit(entry, at);
      const message = `${String(entry)} has no summer time; write ${meant} for the clocks there`;
      return [{ pointer: at, at: 'value', message }];
    });
  };
  return ['agent', 'policies', 'freezes'].flatMap((section) =>
    visit(manifest[section] ?? null, `/${section}`),
  );
}

function entriesOf(written: JsonValue | undefined): [string, JsonValue][] {
  return isJsonObject(written) ? Object.entries(written) : [];
}
