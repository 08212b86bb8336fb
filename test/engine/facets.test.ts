import { expect, test } from 'vitest';
import { toJson } from '../../src/agent/json.ts';
import { digestNow } from '../../src/engine/bind-request.ts';
import {
  auditedFacets,
  digestedFacets,
  FACETS,
  type KeptFacets,
  prepareFacets,
} from '../../src/engine/facets/facets.ts';
import { readDetails } from '../../src/engine/request-details.ts';
import { detailsFor, recordOf } from '../bot/views/cards/records.ts';
import { manifestOf, openTools } from '../tools/toolbox/support.ts';
import { askedCall, ports } from './asked-call.ts';

const FILE = { name: 'claim.txt', sha256: 'a'.repeat(64) };
const UNDOES = { requestId: 'C1:1.2~other', title: 'Refund' };

test('a request keeps what its facets prepare, and only of those that it is asked for', async () => {
  const asked = askedCall(
    {},
    { why: 'It broke', contextAuthors: ['U0CAROL'], files: [FILE], undoes: UNDOES },
  );
  expect(await prepareFacets(asked, ports)).toEqual({
    why: 'It broke',
    context: ['U0CAROL'],
    files: [FILE],
    undoes: UNDOES,
  });
  const facets = await prepareFacets(asked, ports, ['why', 'context']);
  expect(facets).toEqual({ why: 'It broke', context: ['U0CAROL'] });
  expect(auditedFacets(asked, facets)).toMatchObject({ context_authors: ['U0CAROL'], files: [FILE] });
  const details = detailsFor({}, { facets: toJson({ ...facets, unheard: 1 }) });
  expect(readDetails(recordOf({ details }))?.facets).toEqual(facets);
});

test('what cannot be read of a facet makes a request unreadable, unless the card can do without it', () => {
  const read = (facets: object) =>
    readDetails(recordOf({ details: detailsFor({}, { facets: toJson(facets) }) }));
  expect(read({ preview: { current: { outcome: 'seen' } } })).toBeUndefined();
  expect(read({ why: 7 })?.facets).toEqual({});
});

test.each([
  ['preview', { preview: { current: { outcome: 'shown', before: 'a', after: 'b' } } }],
  ['first time', { first: { act: 'ping', days: 90, byTool: ['U0ASKER'], byPair: [] } }],
  ['edit', { edit: { by: 'U0RITA', changes: [{ label: 'Amount', before: '1', after: '2' }] } }],
  ['person in whose name it runs', { runsAs: { person: 'U0ASKER', server: 'crm' } }],
  ['way back', { undo: { reversible: 'yes' } }],
  ['action that it takes back', { undoes: UNDOES }],
  ['file', { files: [FILE] }],
  ['person whose words were read', { context: ['U0CAROL'] }],
] satisfies [string, KeptFacets][])('another %s gives another digest', async (_what, facets) => {
  const toolbox = await openTools(
    manifestOf('  ping: { description: Pings., http: { method: GET, url: "https://example.com" } }\n'),
  );
  const entry = toolbox.find('ping');
  if (entry === undefined) throw new Error('no tool');
  const { interrupt } = askedCall({});
  const presented = { title: 'Ping', fields: [], hasTitle: false, isComplete: false };
  const people = { threadId: 'C1:1.2', requesters: ['U0ASKER'], contextAuthors: [], barred: [] };
  const bound = { entry, interrupt, presented, policy: 'default', ...people };
  expect(digestNow(toolbox, { ...bound, facets })).not.toBe(digestNow(toolbox, { ...bound, facets: {} }));
});

test('no two facets share a name, or the name of a part of the digest', () => {
  const names = FACETS.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  const parts = digestedFacets({}, askedCall({}).interrupt).map(({ name }) => name);
  expect(new Set(parts).size).toBe(parts.length);
  expect(parts).toContain('preview');
});
