import { expect, test } from 'vitest';
import { ENVIRONMENT, KEYS } from './calling.ts';
import { MORTAL, startDoomedBot } from './doomed-bot.ts';
import { PLANNING_CALLER as manifest, openDesk, planOf } from './planning.ts';
import { CAST, startStory } from './support.ts';

const { alice, admin } = CAST;
const SWEEP = { everyMs: 100, overdueMs: 0 };

test('a plan of a caller survives a killed bot: before its approval, and in the middle of a step, which people look up', async () => {
  const desk = await openDesk();
  const story = await startStory({
    ...{ manifest, environment: ENVIRONMENT, timing: MORTAL, sweep: SWEEP, withoutBot: true },
  });
  const bot = await story.startOwnBot();
  const send = async (port: number | undefined, method: string, path: string, body?: object) => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      headers: { authorization: `Bearer ${KEYS.pipeline}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return (await response.json()) as { id: string; status: string };
  };
  const note = (id: string, fate: string) => ({ tool: 'file_note', input: { id, text: 'x', fate } });
  const { id } = await send(
    bot.port,
    'POST',
    '/v1/runs',
    planOf(note('n-1', 'ok'), note('n-2', 'dies-after'), note('n-3', 'ok')),
  );
  const place = story.placeIn(id.slice(0, id.indexOf('-')));
  await place.shows(/3 (of \d )?planned step/);
  await bot.stop();
  const doomed = await startDoomedBot(story, manifest, ENVIRONMENT);
  await place.click(alice, /3 (of \d )?planned step/, 'approve');
  await doomed.gone;
  const next = await story.startOwnBot();
  await story.directly(admin).click(admin, /Outcome unknown/, 'ran');
  await story.workspace
    .as(admin)
    .submit((await story.modalFor(admin)).id, { verdict: 'ran', reason: 'I looked.' });
  expect(await send(next.port, 'GET', `/v1/runs/${id}?wait=60`)).toMatchObject({
    status: 'succeeded',
    steps: [{ status: 'succeeded' }, { status: 'succeeded' }, { status: 'succeeded' }],
  });
  expect((await desk.done()).map((line) => /n-\d/.exec(line)?.[0])).toEqual(['n-1', 'n-2', 'n-3']);
});
