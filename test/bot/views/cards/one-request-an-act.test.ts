import { expect, test } from 'vitest';
import { z } from 'zod';
import { compileSchema } from '../../../../src/agent/schema/compile-schema.ts';
import * as ids from '../../../../src/bot/views/cards/action-ids.ts';
import { buildCard } from '../../../../src/bot/views/cards/build-card.ts';
import {
  buildHome,
  buildList,
  HOME_OPEN,
  HOME_PAGE,
  HOME_REFRESH,
} from '../../../../src/bot/views/home/build-home.ts';
import {
  buildAnswerModal,
  buildRejectModal,
  buildResolveModal,
} from '../../../../src/bot/views/modals/decision-modals.ts';
import { buildDetailsModal } from '../../../../src/bot/views/modals/details-modal.ts';
import { buildEditModal, buildOutputModal } from '../../../../src/bot/views/modals/form-modal.ts';
import { LISTS } from '../../../../src/engine/asks/load-lists.ts';
import type { RequestRecord } from '../../../../src/store/port/request-record.ts';
import { RequestKind, RequestState } from '../../../../src/store/port/request-record.ts';
import { nonEmpty } from '../../../support/non-empty.ts';
import { actionsIn, nodesIn } from './payloads.ts';
import { detailsFor, recordOf } from './records.ts';

const VIEWS = ['thread', 'announcement', 'direct'] as const;
const VERDICTS = [ids.RAN, ids.DID_NOT_RUN, ids.RUN_AGAIN] as const;
const DECIDING: ReadonlySet<unknown> = new Set([ids.APPROVE, ids.REJECT, ids.WITHDRAW, ids.SUBMIT_CHOICES]);

/** Requests of every kind in every state, each with an id of its own. */
const records: readonly RequestRecord[] = RequestKind.options.flatMap((kind) =>
  RequestState.options.map((state) => {
    const id = `C1:1700000000.000100~${kind}-${state}`;
    const details = detailsFor({ question: 'Which?', choices: ['Red', 'Blue'], several: true });
    return recordOf({ id, kind, state, details });
  }),
);
const schema = compileSchema(z.object({ question: z.string() }), 'test', 'inputSchema');

function modalsOf(request: RequestRecord): readonly object[] {
  const forms = [buildEditModal(request, schema), buildOutputModal(request, schema)];
  return [
    buildDetailsModal(request, { page: 0 }),
    buildRejectModal(request),
    buildAnswerModal(request),
    ...VERDICTS.map((verdict) => buildResolveModal(request, verdict)),
    ...forms.flatMap((form) => (form.ok ? [form.view] : [])),
  ];
}

const approvals = (rendered: object) =>
  nodesIn(rendered).flatMap(({ action_id, value }) => (action_id === ids.APPROVE ? [value] : []));

test('a card or a modal decides about its own request and no other, and approves it with one button at most', () => {
  const signable: string[] = [];
  for (const request of nonEmpty(records)) {
    const cards = VIEWS.map((view) => buildCard(request, { view }).blocks);
    for (const rendered of [...cards, ...modalsOf(request)]) {
      const decisions = nodesIn(rendered).filter(({ action_id }) => DECIDING.has(action_id));
      for (const { value } of decisions) expect(value).toBe(request.id);
      expect(approvals(rendered).length).toBeLessThanOrEqual(1);
      if (approvals(rendered).length === 1) signable.push(request.id);
    }
  }
  // In three places and in the full view.
  expect(signable).toEqual(Array(4).fill('C1:1700000000.000100~approval-pending'));
});

test('a modal carries one request, to which its submission belongs', () => {
  for (const request of nonEmpty(records))
    for (const view of nonEmpty(modalsOf(request)))
      expect(view).toHaveProperty('private_metadata', expect.stringContaining(`"requestId":"${request.id}"`));
});

test('App Home and the slash command lead to requests, one button each, and approve only what one click on its card approves', () => {
  const lists = LISTS.map((name) => ({ name, requests: records, next: 'older', isFirst: false }));
  for (const rendered of [buildHome(lists, { asOf: 0 }), lists.flatMap((list) => buildList(list, 0))]) {
    const looks = nodesIn(rendered).filter(({ action_id }) => action_id === HOME_OPEN);
    expect(looks.map(({ value }) => value)).toEqual(LISTS.flatMap(() => records.map(({ id }) => id)));
    const approved = nodesIn(rendered).flatMap(({ action_id, value }) =>
      action_id === ids.APPROVE ? [value] : [],
    );
    const oneClick = records.filter((request) =>
      nodesIn(buildCard(request, { view: 'thread' })).some(
        ({ action_id, confirm }) => action_id === ids.APPROVE && confirm === undefined,
      ),
    );
    expect(oneClick.map(({ id }) => id)).toEqual(expect.arrayContaining(approved));
    expect(approved).not.toHaveLength(0);
    const others = actionsIn(rendered).filter((id) => ![HOME_OPEN, HOME_REFRESH, ids.APPROVE].includes(id));
    expect(others).toEqual(
      LISTS.flatMap((name) => [`${HOME_PAGE}:${name}:first`, `${HOME_PAGE}:${name}:next`]),
    );
  }
});
