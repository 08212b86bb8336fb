import { type Finding, failed, ok, warning } from './finding.ts';

/** Slack's date counts in seconds, and an answer takes time. */
const TOLERATED_MS = 5_000;
/** Signatures of Slack that are older are refused. */
const REFUSED_MS = 300_000;

/** Compares another clock with this machine's. Deadlines are kept by Redis's clock, and requests of Slack are refused when they seem old. */
export function checkClock(whose: string, theirs: number, ours: number): Finding {
  const check = 'clock';
  const offMs = Math.abs(theirs - ours);
  if (offMs <= TOLERATED_MS) return ok(check, `agrees with ${whose}`);
  const seconds = Math.round(offMs / 1_000);
  const message = `this machine's clock is ${seconds} seconds ${theirs > ours ? 'behind' : 'ahead of'} ${whose}'s`;
  return (offMs >= REFUSED_MS ? failed : warning)(check, message, { fix: 'sync it with NTP' });
}
