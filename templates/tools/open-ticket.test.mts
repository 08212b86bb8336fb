import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { generate, type Model, type ModelReply } from 'countersign';
import { openTicket } from './open-ticket.mts';

/** A model that calls the tool once and then ends; no Slack and no provider is needed. */
function scripted(): Model {
  const call = { id: '1', name: 'open_ticket', arguments: JSON.stringify({ title: 'Door is stuck' }) };
  const replies: Pick<ModelReply, 'text' | 'calls'>[] = [
    { text: '', calls: [call] },
    { text: 'Done.', calls: [] },
  ];
  const end = { text: '', calls: [] };
  return {
    name: 'scripted',
    reply: async () => ({ finish: 'stop', usage: undefined, ...(replies.shift() ?? end) }),
  };
}

test('a call writes the ticket with the requester', async () => {
  process.chdir(mkdtempSync(join(tmpdir(), 'tickets-')));
  const context = { requester: 'U1' };
  const { text } = await generate({
    model: scripted(),
    tools: [openTicket],
    prompt: 'A ticket, please',
    context,
  });
  assert.equal(text, 'Done.');
  const { title, requester } = JSON.parse(readFileSync('tickets.jsonl', 'utf8'));
  assert.deepEqual({ title, requester }, { title: 'Door is stuck', requester: 'U1' });
});
