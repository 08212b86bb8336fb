import type { Vote, VoteResult } from '../../port/store.ts';
import { isPerson } from '../../record/keys.ts';
import type { RunScript } from '../run-script.ts';
import type { ScriptReply } from '../script-reply.ts';

/** Checks the ids of a vote, which are parts of fields. */
export function areVoters({ who, standsFor }: Vote): boolean {
  return isPerson(who) && (standsFor === undefined || isPerson(standsFor));
}

/** Writes a vote in the order in which `vote.lua` reads it. */
export function voteFields(
  run: RunScript,
  {
    who,
    eligible,
    evidence,
    decision,
    shown,
    reason = '',
    groups = [],
    grants = false,
    standsFor,
    rates = [],
    chosen,
    proof,
  }: Vote,
): readonly (string | number)[] {
  return [
    who,
    decision,
    shown,
    eligible ? 1 : 0,
    ...run.auditBody({
      ...{ who, decision, reason, evidence },
      ...(groups.length > 0 && { groups: [...groups] }),
      ...(standsFor !== undefined && { for: standsFor }),
      ...(grants && { grants }),
      ...(chosen !== undefined && { chosen: [...chosen.steps], digest: chosen.digest }),
      ...(proof !== undefined && { proof: proof.body }),
    }),
    reason,
    groups.join(' '),
    grants ? 1 : '',
    standsFor ?? '',
    rates.map(({ key, max, windowMs }) => `${key} ${max} ${windowMs}`).join(' '),
    chosen?.steps.join(' ') ?? '',
    chosen?.digest ?? '',
    ...proofFields(proof),
  ];
}

function proofFields(proof: Vote['proof']): readonly string[] {
  if (proof === undefined) return ['', '', '', '', ''];
  const { body, link, keys } = proof;
  const next = `${keys.next.version}\n${keys.next.value}`;
  return [JSON.stringify(body), link.join('|'), keys.name.join('|'), keys.seen, next];
}

/** Reads the reply of `vote.lua`. */
export function readVote(reply: ScriptReply): VoteResult {
  switch (reply.code) {
    case 'voted':
      return {
        outcome: 'voted',
        state: reply.string(1),
        approvals: reply.number(2),
        quorum: reply.number(3),
      };
    case 'already-voted':
      return { outcome: 'already-voted', decision: reply.string(1) };
    case 'represented':
      return { outcome: 'represented', by: reply.string(1) };
    default:
      return reply.plain(
        ...([
          'expired',
          'not-an-approval',
          'not-eligible',
          'own-request',
          'not-as-shown',
          'not-delegated',
          'too-many',
          'not-proven',
          'link-used',
          'keys-changed',
        ] as const),
      );
  }
}
