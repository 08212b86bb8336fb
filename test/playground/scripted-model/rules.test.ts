import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { CHANNELS } from '../../../playground/slack/default-cast.ts';
import { CAST } from '../../stories/support.ts';
import { replaceOnce, startScriptedBot } from './support.ts';

test('a file is read right away and written after approval; all orders are read in parallel and the task is completed', async () => {
  const bot = await startScriptedBot();
  await bot.hears(bot.ask('Read notes.md.'), /notes\.md says:\n```\nTwelve lemons\.\n```/);

  const write = bot.ask('Write "Water the plants" into todo.txt.');
  await write.shows(/Approval needed: Write the file todo.txt/);
  expect(() => readFileSync(join(bot.folder, 'todo.txt'))).toThrow();
  await write.click(CAST.alice, /Approval needed/, 'approve');
  await bot.hears(write, /Wrote todo\.txt\./);
  expect(readFileSync(join(bot.folder, 'todo.txt'), 'utf8')).toBe('Water the plants\n');

  const sum = bot.ask('Check all orders and sum up.');
  const result = await bot.hears(sum, /Done\.[\s\S]*Sold: 166300/);
  expect(result).toContain('5 orders worth $1663.00, $0.00 refunded.');
});

test('the model waits for a form and for a callback, and repeats their values', async () => {
  const bot = await startScriptedBot({ withoutBot: true });
  const process = await bot.startOwnBot();
  const form = bot.ask('I want to report an incident.');
  await bot.fillIn(form, CAST.requester, [/Please fill in/, 'fill-in'], {
    'field-0': 'The lift is stuck',
    'field-1': '2',
    'field-2': '3',
  });
  await bot.hears(form, /I got your report:\s+- title: The lift is stuck\n- severity: high\n- people: 3/);

  const build = bot.ask('Tell me when the build of checkout is done.');
  await build.click(CAST.requester, /show-address/, 'show-address');
  const { text } = await bot.noticeFor(CAST.requester, /report back/);
  const [path = ''] = /\/callback\/[\w.-]+/.exec(text) ?? [];
  const body = '{"ok":true}';
  const report = await fetch(`http://127.0.0.1:${process.port}${path}`, { method: 'POST', body });
  expect(report.status).toBe(200);
  await bot.hears(build, /Reported for “the build of checkout is done”:\s+- ok: true/);
});

test('a refund without an order and an amount asks for both, one after the other, and accepts a written answer', async () => {
  const bot = await startScriptedBot();
  const thread = bot.ask('A customer wants their money back.');
  await thread.shows(/Which order was it\?/);
  bot.ask('a 1002', { threadTs: thread.ts });
  await thread.click(CAST.requester, /How much should I refund\?/, 'choose:1');
  await bot.hears(thread, /Refunded \$44\.50 of order A-1002\./);
  expect(await bot.ledger.order('A-1002')).toMatchObject({ refunded: 4_450 });

  const withdrawn = bot.ask('A customer wants their money back.');
  await withdrawn.click(CAST.requester, /Which order was it\?/, 'withdraw');
  await bot.hears(withdrawn, /My question was withdrawn, so nothing was done\./);
});

test('an expired request is asked again with the same line, on a new card', async () => {
  const bot = await startScriptedBot({
    change: (text) => replaceOnce(text, 'expires: 45s', 'expires: 3s'),
  });
  const thread = bot.ask('Please publish on the status page: "All is well."');
  const card = await thread.shows(/Expired: Publish [\s\S]* on the status page/);
  await bot.workspace.as(CAST.requester).click({ channel: thread.channel, ts: card.ts }, 'ask-again');
  const next = await thread.shows(/Approval needed[\s\S]*All is well\./);
  expect(next.ts).not.toBe(card.ts);
  await bot.hears(thread, /Asking again with the same arguments\./);
});

test('a message sent while an approval is pending is answered after the result of the first request', async () => {
  const bot = await startScriptedBot();
  const thread = bot.ask('Please refund 120 dollars of order A-1001.');
  await thread.shows(/Approval needed/);
  bot.ask('Read notes.md.', { threadTs: thread.ts });
  await thread.click(CAST.alice, /Approval needed/, 'approve');
  await bot.hears(thread, /Refunded \$120\.00 of order A-1001\.[\s\S]*notes\.md says/);
});

test('the model uses what others wrote in the thread, a file, and the message of a shortcut', async () => {
  const bot = await startScriptedBot();
  const { workspace } = bot;
  const general = CHANNELS.general;
  const complaint = workspace.as(CAST.alice).send(general, 'The lamp of order A-1002 flickers.');
  const inContext = bot.ask('Please refund 20 dollars of it.', { threadTs: complaint.ts });
  await bot.hears(inContext, /Refunded \$20\.00 of order A-1002\./);

  const claim = { name: 'claim.txt', bytes: Buffer.from('Order A-1003 came late.') };
  const mention = `<@${workspace.state.app.botUserId}>`;
  const sent = workspace
    .as(CAST.requester)
    .send(general, `${mention} Look up this order.`, { files: [claim] });
  await bot.hears(bot.threadIn(general, sent.ts), /Order A-1003: Office chair/);

  const other = workspace.as(CAST.alice).send(general, 'Where is A-1004?');
  await workspace.as(CAST.requester).shortcut({ channel: general, ts: other.ts }, 'ask_about_message');
  const modal = await bot.modalFor(CAST.requester, /Where is A-1004/);
  await workspace.as(CAST.requester).submit(modal.id, { task: 'Look up this order.' });
  await bot.hears(bot.threadIn(general, other.ts), /Order A-1004: Notebook/);
});

test('the model starts again with the new text of an edited message', async () => {
  const bot = await startScriptedBot();
  const { workspace } = bot;
  const thread = bot.ask('Please refund 120 dollars of order A-1001.');
  await thread.shows(/Approval needed: Refund \$120\.00/);
  const edited = `<@${workspace.state.app.botUserId}> Please refund 130 dollars of order A-1001.`;
  workspace.as(CAST.requester).edit({ channel: thread.channel, ts: thread.ts }, edited);
  await thread.click(CAST.requester, /I can start again with the new text/, 'redo');
  await thread.shows(/Approval needed: Refund \$130\.00/);
  await thread.click(CAST.alice, /Approval needed: Refund \$130\.00/, 'approve');
  await bot.hears(thread, /Refunded \$130\.00 of order A-1001\./);
});
