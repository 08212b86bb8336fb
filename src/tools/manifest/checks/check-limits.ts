import { isJsonObject, type JsonValue } from '../../../agent/json.ts';
import { pointerTo } from '../../../agent/util/json-pointer.ts';
import type { Finding } from '../problem.ts';
import { LimitFile } from '../schema/limits.ts';
import { policyIn } from '../to-manifest.ts';
import { checkExpression } from './check-expression.ts';
import { didYouMean } from './nearest-word.ts';
import { readableParts } from './readable-parts.ts';

const AMOUNT = {
  what: 'expression',
  types: ['int', 'uint', 'double'],
  expected: 'an amount must be a number',
};

const Parts = LimitFile.partial();

/** Finds mistakes that the schema cannot: policies that do not exist, amounts that are no numbers, names that are taken. */
export function checkLimits(limits: JsonValue | undefined, policies: readonly string[]): Finding[] {
  if (!isJsonObject(limits)) return [];
  const taken = new Set<string>();
  return Object.entries(limits).flatMap(([tool, written]) => {
    const pointer = pointerTo('/limits', tool);
    const isList = Array.isArray(written);
    const all = isList ? written : [written];
    return all.flatMap((limit, index) => {
      const at = isList ? pointerTo(pointer, index) : pointer;
      const { sum, then, name = index === 0 ? tool : `${tool}-${index + 1}` } = readableParts(Parts, limit);
      const findings: Finding[] = [];
      const report = (key: string, message: string) =>
        findings.push({ pointer: `${at}/${key}`, at: 'value', message });
      const wrong = sum === undefined ? undefined : checkExpression(sum, AMOUNT);
      if (wrong !== undefined) findings.push({ pointer: `${at}/sum`, at: 'value', ...wrong });
      const policy = then === undefined ? undefined : policyIn(then);
      if (policy !== undefined && !policies.includes(policy))
        report('then', `there is no policy "${policy}"${didYouMean(policy, policies)}`);
      if (taken.has(name)) report('name', `another limit is named "${name}"`);
      taken.add(name);
      return findings;
    });
  });
}
