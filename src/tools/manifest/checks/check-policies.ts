import { isJsonObject, type JsonValue } from '../../../agent/json.ts';
import { pointerTo } from '../../../agent/util/json-pointer.ts';
import type { Finding } from '../problem.ts';
import { PolicyFile } from '../schema.ts';
import { DEFAULT_EXPIRES_MS } from '../to-manifest.ts';
import { readableParts } from './readable-parts.ts';

const Parts = PolicyFile.partial();

/** Finds mistakes between values: a quorum that cannot be reached, and times after the request expires. */
export function checkPolicies(policies: JsonValue | undefined): Finding[] {
  if (!isJsonObject(policies)) return [];
  return Object.entries(policies).flatMap(([name, policy]) =>
    checkPolicy(pointerTo('/policies', name), policy),
  );
}

function checkPolicy(pointer: string, policy: JsonValue): Finding[] {
  const { approvers, quorum, expires, remind, escalate } = readableParts(Parts, policy);
  const findings: Finding[] = [];
  const report = (key: string, message: string): void => {
    findings.push({ pointer: `${pointer}/${key}`, at: 'value', message });
  };
  const people = new Set(approvers);
  const hasGroup = approvers?.some((id) => id.startsWith('S')) ?? true;
  if (quorum !== undefined && !hasGroup && quorum > people.size) {
    report(
      'quorum',
      `${quorum} must approve, but only ${people.size} can: name more approvers or lower the quorum`,
    );
  }
  const expiresMs = expires ?? DEFAULT_EXPIRES_MS;
  const end = expires === undefined ? 'after 1d, the default' : 'by then';
  if (remind !== undefined && remind >= expiresMs) {
    report('remind', `nobody would be reminded: the request expires ${end}`);
  }
  if (escalate !== undefined && escalate.after >= expiresMs) {
    report('escalate/after', `nobody would be asked: the request expires ${end}`);
  }
  return findings;
}
