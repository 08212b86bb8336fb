import { isJsonObject, type JsonValue } from '../../agent/json.ts';
import { pointerTo } from '../../agent/util/json-pointer.ts';
import { didYouMean } from './checks/nearest-word.ts';
import type { Finding } from './problem.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

export interface Filled {
  readonly value: JsonValue;
  /** The values that were used, by name. */
  readonly used: ReadonlyMap<string, string>;
  /** The pointers of the values that hold one of them. */
  readonly filledIn: ReadonlySet<string>;
  /** The values in a tool's connection, which only the other side may see. */
  readonly secrets: readonly string[];
  readonly findings: readonly Finding[];
}

const REFERENCE = /\$\$\{|\$\{([^}]*)\}?/g;
const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/;
/** Matches texts that people or the model read; a secret there would not stay one. */
const VISIBLE =
  /^\/(agent\/(channels\/[^/]+\/)?instructions|tools\/[^/]+\/(cards\/\d+\/)?(description|input|approval|title|done|target|fields|undo|preview\/(before|after))(\/|$))/;
const CONNECTION =
  /^\/(agent\/(headers|query)\/|tools\/[^/]+\/(mcp|http)\/(?!(command|cwd|prefix|method|select|allow_private)(\/|$))|audit\/http\/)/;

/** Replaces `${NAME}` by that variable of the environment; `$${` is an escaped `${`. */
export function fillFromEnvironment(value: JsonValue, environment: Environment): Filled {
  const used = new Map<string, string>();
  const filledIn = new Set<string>();
  const secrets = new Set<string>();
  const findings: Finding[] = [];

  const lookUp = (written: string, name: string | undefined, pointer: string, inside: number): string => {
    if (name === undefined) return '${';
    const report = (message: string): string => {
      findings.push({ pointer, at: 'value', inside, message });
      return written;
    };
    if (!written.endsWith('}') || !VARIABLE.test(name)) {
      return report(`${written} is not of the form \${NAME}; write $\${ for the characters themselves`);
    }
    if (VISIBLE.test(pointer)) {
      return report(
        `${written} cannot be used here, where the model or people read it; only connections take secrets`,
      );
    }
    const found = Object.hasOwn(environment, name) ? environment[name] : undefined;
    if (found === undefined || found === '') {
      const others = Object.keys(environment).filter((other) => other !== name);
      return report(`${name} is not set in .env or the environment${didYouMean(name, others)}`);
    }
    used.set(name, found);
    filledIn.add(pointer);
    if (CONNECTION.test(pointer)) secrets.add(found);
    return found;
  };

  const fill = (current: JsonValue, pointer: string): JsonValue => {
    if (typeof current === 'string') {
      return current.replace(REFERENCE, (written: string, name: string | undefined, inside: number) =>
        lookUp(written, name, pointer, inside),
      );
    }
    if (Array.isArray(current)) return current.map((item, index) => fill(item, pointerTo(pointer, index)));
    if (!isJsonObject(current)) return current;
    return Object.fromEntries(
      Object.entries(current).map(([key, entry]) => [key, fill(entry, pointerTo(pointer, key))]),
    );
  };

  return { value: fill(value, ''), used, filledIn, secrets: [...secrets], findings };
}
