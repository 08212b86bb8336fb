import { describe, expect, test } from 'vitest';
import { compareManifests, weakeningsIn } from '../../../../src/tools/manifest/compare/compare-manifests.ts';
import { BASE, having, PAIRS } from './pairs.ts';
import { manifestFrom } from './support.ts';

describe('the comparison of two manifests', () => {
  test('has a table of at least 40 pairs', () => {
    expect(PAIRS.length).toBeGreaterThanOrEqual(40);
  });

  test.each(PAIRS)('%s', (_, next, verdict, words, former = BASE) => {
    const compared = compareManifests(manifestFrom(former), manifestFrom(next));
    expect(compared).toMatchObject({ verdict });
    const weakenings = weakeningsIn(compared).map((change) => `${change.part}: ${change.words}`);
    expect(weakenings.length > 0).toBe(verdict === 'weaker' || verdict === 'incomparable');
    if (words !== undefined) expect(weakenings.join('\n')).toMatch(new RegExp(words.source, 'm'));
  });

  test('the other way round, what is weaker is stronger, and what is equal stays equal', () => {
    for (const [what, next, verdict, , former = BASE] of PAIRS) {
      const back = compareManifests(manifestFrom(next), manifestFrom(former)).verdict;
      if (verdict === 'equal') expect([what, back]).toEqual([what, 'equal']);
      if (verdict === 'stronger')
        expect([what, back]).toEqual([what, expect.stringMatching(/weaker|incomparable/)]);
    }
  });

  test('a lock file that is removed or changed is no equal of the one before', () => {
    const [locked, other, none] = ['{"a":1}', '{"a":2}', undefined].map((lock) => manifestFrom(BASE, lock));
    if (locked === undefined || other === undefined || none === undefined) throw new Error('not parsed');
    expect(compareManifests(locked, none).verdict).toBe('incomparable');
    expect(compareManifests(locked, other).verdict).toBe('incomparable');
    expect(compareManifests(none, locked).verdict).toBe('stronger');
  });

  test('a field that no comparison knows counts as weaker', () => {
    const [former, next] = [manifestFrom(BASE), manifestFrom(BASE)];
    const policy = next.manifest.policies.get('slow');
    const policies = new Map([
      ...next.manifest.policies,
      ['slow', Object.assign({}, policy, { later: true })],
    ]);
    const changed = { ...next, manifest: { ...next.manifest, policies } };
    expect(compareManifests(former, changed as typeof next)).toMatchObject({
      verdict: 'incomparable',
      changes: [{ part: 'policies.slow', words: 'later has changed' }],
    });
  });

  test('where the requester decides who approves, a stricter policy may be asked in place of another one', () => {
    const approval = [{ policy: 'slow', when: "requester == 'U0ANN00001'" }, { policy: 'default' }];
    const former = having('tools.pay.approval', approval);
    const next = structuredClone(former) as typeof BASE;
    Object.assign(next.policies.slow, { quorum: 3 });
    const compared = compareManifests(manifestFrom(former), manifestFrom(next));
    expect(compared.verdict).toBe('incomparable');
    expect(weakeningsIn(compared).map(({ words }) => words)).toEqual([
      'it depends on the requester who approves, and another policy may now be the strictest',
    ]);
  });
});
