import { isJsonObject, type JsonValue, pointerTo } from '../../agent/json.ts';
import { findLiteralSecrets } from '../secrets.ts';
import { didYouMean, type Finding } from './problem.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

export interface Filled {
  readonly value: JsonValue;
  /** The same with `${NAME}` left in place of each secret, so that it can be shown and put on record. */
  readonly withoutSecrets: JsonValue;
  /** The values that were used, by name. */
  readonly used: ReadonlyMap<string, string>;
  /** The pointers of the values that hold one of them. */
  readonly filledIn: ReadonlySet<string>;
  /** The values in a tool's connection, which only the other side may see. */
  readonly secrets: readonly string[];
  readonly findings: readonly Finding[];
  /** Addresses whose host cannot be told apart from what may be secret; a governed manifest must not have them. */
  readonly hiddenHosts: readonly Finding[];
}

const REFERENCE = /\$\$\{|\$\{([^}]*)\}?/g;
const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/;
/** Matches texts that people or the model read; a secret there would not stay one. */
const VISIBLE =
  /^\/(agent\/(channels\/[^/]+\/)?instructions|tools\/[^/]+\/(cards\/\d+\/)?(description|input|approval|title|done|target|fields|undo|preview\/(before|after))(\/|$))/;
/** Matches what may hold a secret; the keys left out decide who, when or what, and are governed by value. */
const CONNECTION =
  /^\/(agent\/model\/(headers|query)\/|tools\/[^/]+\/(mcp|http)\/(?!(command|cwd|prefix|method|select|allow_private|timeout|elicitation|answers|poll|auth\/(client_id|issuer|scope|token_url))(\/|$))|http_defaults\/(headers|auth\/client_secret)(\/|$)|audit\/http\/|callers\/[^/]+\/(identity\/key|webhook\/secret)$|page\/client_secret$)/;
/** Matches addresses: the host is governed by value, the rest may hold a secret. */
const ADDRESS = /^\/((tools\/[^/]+\/(mcp|http)|audit\/http)\/url|http_defaults\/base_url)$/;

/** A piece of a text: words of the file, or a variable with its value. */
interface Piece {
  readonly written: string;
  readonly filled: string;
  readonly name?: string | undefined;
  readonly inside: number;
}

/** Replaces `${NAME}` by that variable of the environment; `$${` is an escaped `${`. `withoutSecrets` leaves a secret that is not set as it is. */
export function fillFromEnvironment(
  value: JsonValue,
  environment: Environment,
  { withoutSecrets: isWithoutSecrets = false } = {},
): Filled {
  const used = new Map<string, string>();
  const filledIn = new Set<string>();
  const secrets = new Set<string>();
  const findings: Finding[] = [];
  const hiddenHosts: Finding[] = [];

  const lookUp = (written: string, name: string, pointer: string, inside: number): string | undefined => {
    const report = (message: string): undefined => {
      findings.push({ pointer, at: 'value', inside, message });
    };
    const [, argument] = /^((?:input|output)[.[].*)$/.exec(name.trim()) ?? [];
    if (argument !== undefined)
      return report(`${written} is no variable; write {{${argument}}} for the value`);
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
      if (isWithoutSecrets && CONNECTION.test(pointer)) return undefined;
      const others = Object.keys(environment).filter((other) => other !== name);
      return report(`${name} is not set in .env or the environment${didYouMean(name, others)}`);
    }
    if (!CONNECTION.test(pointer) && (found.includes('$') || findLiteralSecrets(found).length > 0)) {
      return report(
        `the value of ${name} looks like a secret or has a "$"; only connections take such values`,
      );
    }
    used.set(name, found);
    filledIn.add(pointer);
    return found;
  };

  const readPieces = (text: string, pointer: string): Piece[] => {
    const pieces: Piece[] = [];
    let end = 0;
    for (const { 0: written, 1: name, index: inside } of text.matchAll(REFERENCE)) {
      const before = text.slice(end, inside);
      end = inside + written.length;
      pieces.push({ written: before, filled: before, inside });
      const found = name === undefined ? undefined : lookUp(written, name, pointer, inside);
      const filled = name === undefined ? '${' : (found ?? written);
      pieces.push({ written, filled, inside, name: found === undefined ? undefined : name });
    }
    const rest = text.slice(end);
    return [...pieces, { written: rest, filled: rest, inside: end }];
  };

  /** Returns the text with all values, and the one without secrets. */
  const fillText = (text: string, pointer: string): readonly [string, string] => {
    const pieces = readPieces(text, pointer);
    const filled = pieces.map((piece) => piece.filled).join('');
    const host = ADDRESS.test(pointer) ? hostIn(filled) : undefined;
    let at = 0;
    const shown = pieces.map(({ written, filled: own, name, inside }) => {
      const [from, to] = [at, at + own.length];
      at = to;
      if (name === undefined) return written;
      const isHost = host !== undefined && from >= host.from && to <= host.to;
      if (isHost && !own.includes('$')) return own;
      if (!CONNECTION.test(pointer)) return own;
      secrets.add(own);
      const isAccount = host !== undefined && from >= host.account && to < host.from;
      if (host !== undefined && from < host.to && !isAccount) {
        const message = `\${${name}} holds more than the host, so nobody could tell where calls go; with agent.policy_changes write the host as text or as a variable of its own, such as https://\${HOST}/\${PATH}`;
        hiddenHosts.push({ pointer, at: 'value', inside, message });
      }
      return written;
    });
    return [filled, shown.join('')];
  };

  const fill = (current: JsonValue, pointer: string): readonly [JsonValue, JsonValue] => {
    if (typeof current === 'string') return fillText(current, pointer);
    if (Array.isArray(current)) {
      const items = current.map((item, index) => fill(item, pointerTo(pointer, index)));
      return [items.map(([item]) => item), items.map(([, item]) => item)];
    }
    if (!isJsonObject(current)) return [current, current];
    const entries = Object.entries(current).map(
      ([key, entry]) => [key, fill(entry, pointerTo(pointer, key))] as const,
    );
    return [
      Object.fromEntries(entries.map(([key, [entry]]) => [key, entry])),
      Object.fromEntries(entries.map(([key, [, entry]]) => [key, entry])),
    ];
  };

  const [filled, withoutSecrets] = fill(value, '');
  return { value: filled, withoutSecrets, used, filledIn, secrets: [...secrets], findings, hiddenHosts };
}

/** Finds where the host of an address is, and the account before it. */
function hostIn(
  address: string,
): { readonly account: number; readonly from: number; readonly to: number } | undefined {
  const [whole, scheme = '', account = '', host = ''] =
    /^(https?:\/\/)([^/?#\\]*@)?([^/?#\\]*)/.exec(address) ?? [];
  if (whole === undefined) return undefined;
  const from = scheme.length + account.length;
  return { account: scheme.length, from, to: from + host.length };
}
