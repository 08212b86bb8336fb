import { isPerson } from '../../port/keys.ts';
import type { VoteResult } from '../../port/results.ts';
import type { Vote, VoteProof } from '../../port/values.ts';
import type { GrantOffer } from '../../port/workspace.ts';
import { type Named, pack, type RunScript } from '../run-script.ts';
import type { ScriptReply } from '../script-reply.ts';

/** Checks the ids of a vote, which are parts of fields. */
export function areVoters({ who, standsFor }: Vote): boolean {
  return isPerson(who) && (standsFor === undefined || isPerson(standsFor));
}

/** Packs a vote for `vote.lua`. */
export function packVote(run: RunScript, vote: Vote): Buffer {
  const { who, eligible, evidence, decision, shown, reason = '', groups = [], standsFor, chosen } = vote;
  const { grants, rates = [], proof } = vote;
  const [body, digest] = run.auditBody({
    who,
    decision,
    reason,
    evidence,
    ...(groups.length > 0 && { groups: [...groups] }),
    ...(standsFor !== undefined && { for: standsFor }),
    ...(grants !== undefined && { grants: true }),
    ...(chosen !== undefined && { chosen: [...chosen.steps], digest: chosen.digest }),
    ...(proof !== undefined && { proof: proof.body }),
  });
  return pack({
    who,
    decision,
    shown,
    reason,
    body,
    digest,
    eligible: eligible ? 1 : 0,
    votes_for: groups.join(' '),
    for_whom: standsFor ?? '',
    rates: rates.map(({ key, max, windowMs }) => `${key} ${max} ${windowMs}`).join(' '),
    chosen: chosen?.steps.join(' ') ?? '',
    as_chosen: chosen?.digest ?? '',
    ...(grants !== undefined && { grant: grantValues(run, grants) }),
    ...(proof !== undefined && { proof: proofValues(proof) }),
  });
}

function grantValues(run: RunScript, { id, uses, forMs, details }: GrantOffer): Named {
  const [body, digest] = run.auditBody({ ...details, uses, forMs });
  return { id, uses, for_ms: forMs, text: JSON.stringify(details), body, digest };
}

function proofValues({ body, link, keys: { name, seen, next } }: VoteProof): Named {
  const [text, value] = [JSON.stringify(body), `${next.version}\n${next.value}`];
  return { text, link: link.join('|'), keys: name.join('|'), seen, next: value };
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
