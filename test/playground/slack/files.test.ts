import { describe, expect, test } from 'vitest';
import { CAST, CHANNELS, DEFAULT_SCOPES } from '../../../playground/slack/default-cast.ts';
import { LIMITS } from '../../../playground/slack/limits.ts';
import type { LocalSlack } from '../../../playground/slack/start-local-slack.ts';
import { call, connected, errorOf, slackForTest } from './support.ts';

const { general, withoutBot } = CHANNELS;
const NOTE = { name: 'note.txt', bytes: Buffer.from('hello') };

/** Uploads bytes as an app does, up to the call that completes it. */
async function upload(slack: LocalSlack, bytes: Buffer, filename = 'report.csv') {
  const begun = await call(slack, 'files.getUploadURLExternal', { filename, length: bytes.length });
  const { status } = await fetch(String(begun.upload_url), { method: 'POST', body: new Uint8Array(bytes) });
  return { id: String(begun.file_id), status };
}

function privateUrl(slack: LocalSlack): string {
  const [file] = slack.workspace.state.files.files.values();
  return `${slack.apiUrl.replace(/api\/$/, '')}files-pri/T0LOCAL001-${file?.id}/${file?.name}`;
}

describe('a file of a person', () => {
  test('comes with the event of its message, as Slack describes it', async () => {
    const { workspace, client } = await connected({});
    workspace.as(CAST.alice).send(general, 'look', { files: [NOTE] });
    await workspace.until(() => client.envelopes.length === 1);
    const { event } = client.envelopes[0]?.payload ?? {};
    expect(event).toMatchObject({
      type: 'message',
      subtype: 'file_share',
      text: 'look',
      upload: true,
      files: [
        {
          name: 'note.txt',
          mimetype: 'text/plain',
          size: 5,
          mode: 'snippet',
          user: CAST.alice,
          file_access: 'visible',
          url_private: expect.stringMatching(/\/files-pri\/T\w+-F\w+\/note\.txt$/),
        },
      ],
    });
  });

  test('comes with a mention too, which has no subtype', async () => {
    const { workspace, client } = await connected({});
    workspace.as(CAST.alice).send(general, `<@${workspace.state.app.botUserId}> look`, { files: [NOTE] });
    await workspace.until(() => client.envelopes.length === 2);
    const events = client.envelopes.map(({ payload }) => payload.event as Record<string, unknown>);
    const mention = events.find(({ type }) => type === 'app_mention');
    expect(mention).toMatchObject({ files: [{ name: 'note.txt' }] });
    expect(mention).not.toHaveProperty('subtype');
  });

  test('needs no text, and there are at most ten', async () => {
    const { workspace } = await slackForTest();
    const alice = workspace.as(CAST.alice);
    expect(alice.send(general, '', { files: [NOTE] }).files).toHaveLength(1);
    expect(() => alice.send(general, '', { files: Array(11).fill(NOTE) })).toThrow(/at most 10/);
    expect(() => alice.send(general, '')).toThrow(/1 to 40,000/);
  });

  test('is downloaded with the token alone; without it Slack asks to sign in', async () => {
    const slack = await slackForTest();
    slack.workspace.as(CAST.alice).send(general, '', { files: [NOTE] });
    const url = privateUrl(slack);
    const bare = await fetch(url, { redirect: 'manual' });
    expect([bare.status, bare.headers.get('location')]).toEqual([302, expect.stringMatching(/^\/signin/)]);
    const page = await fetch(url, { headers: { authorization: 'Bearer xoxb-wrong' } });
    expect(page.headers.get('content-type')).toMatch(/text\/html/);
    const headers = { authorization: `Bearer ${slack.botToken}` };
    expect(await (await fetch(url, { headers })).text()).toBe('hello');
    expect(slack.workspace.usedScopes()).toContain('files:read');
  });

  test('is not shown to an app without the scope, or that is not where it is', async () => {
    const scopes = DEFAULT_SCOPES.filter((scope) => scope !== 'files:read');
    const slack = await slackForTest({ app: { scopes } });
    slack.workspace.as(CAST.alice).send(general, '', { files: [NOTE] });
    const headers = { authorization: `Bearer ${slack.botToken}` };
    expect((await fetch(privateUrl(slack), { headers, redirect: 'manual' })).status).toBe(302);
    expect(await errorOf(slack, 'files.info', { file: 'F1' })).toBe('missing_scope');

    const other = await slackForTest();
    const { members } = other.workspace.state.channels.get(withoutBot) ?? {};
    const [member = ''] = members ?? [];
    other.workspace.as(member).send(withoutBot, '', { files: [NOTE] });
    const hidden = await fetch(privateUrl(other), { headers: { authorization: `Bearer ${other.botToken}` } });
    expect(hidden.status).toBe(404);
    const [file] = other.workspace.state.files.files.keys();
    expect(await errorOf(other, 'files.info', { file })).toBe('file_not_found');
  });

  test('can be longer than it is announced', async () => {
    const slack = await slackForTest();
    const long = { ...NOTE, size: 5, filler: 1_000_000 };
    slack.workspace.as(CAST.alice).send(general, '', { files: [long] });
    const headers = { authorization: `Bearer ${slack.botToken}` };
    expect((await (await fetch(privateUrl(slack), { headers })).arrayBuffer()).byteLength).toBe(1_000_005);
  });
});

describe('a file of the app', () => {
  test('is uploaded in three steps, and its message is in the thread', async () => {
    const slack = await slackForTest();
    const { ts } = slack.workspace.as(CAST.alice).send(general, 'report?');
    const { id, status } = await upload(slack, Buffer.from('a,b'));
    expect(status).toBe(200);
    const files = [{ id, title: 'The report' }];
    const done = await call(slack, 'files.completeUploadExternal', {
      files,
      channel_id: general,
      thread_ts: ts,
    });
    expect(done).toMatchObject({ ok: true, files: [{ id, name: 'report.csv', title: 'The report' }] });
    expect(slack.workspace.messagesIn(general, ts).at(-1)).toMatchObject({ files: [id], thread_ts: ts });
    const { file } = await call(slack, 'files.info', { file: id });
    expect(file).toMatchObject({
      channels: [general],
      shares: { public: { [general]: [{ thread_ts: ts }] } },
    });
    expect(slack.workspace.usedScopes()).toEqual(expect.arrayContaining(['files:read', 'files:write']));
    expect(await errorOf(slack, 'files.completeUploadExternal', { files, channel_id: general })).toBe(
      'file_not_found',
    );
    expect(slack.workspace.messagesIn(general, ts)).toHaveLength(2);
  });

  test('is refused if its bytes are missing or not as announced, and where the app may not write', async () => {
    const slack = await slackForTest();
    const begun = await call(slack, 'files.getUploadURLExternal', { filename: 'a', length: 3 });
    const files = [{ id: begun.file_id }];
    const complete = (channel: string) =>
      errorOf(slack, 'files.completeUploadExternal', { files, channel_id: channel });
    expect(await complete(general)).toBe('file_not_found');
    const short = await fetch(String(begun.upload_url), { method: 'POST', body: 'ab' });
    expect(short.status).toBe(400);
    await fetch(String(begun.upload_url), { method: 'POST', body: 'abc' });
    expect(await complete(withoutBot)).toBe('not_in_channel');
    expect(await complete(general)).toBeUndefined();
  });

  test('is refused if it is empty, too large, or described too long', async () => {
    const slack = await slackForTest();
    const begin = (given: object) =>
      errorOf(slack, 'files.getUploadURLExternal', { filename: 'a', length: 3, ...given });
    expect(await begin({ length: 0 })).toBe('file_upload_size_restricted');
    expect(await begin({ length: LIMITS.fileBytes + 1 })).toBe('file_upload_size_restricted');
    expect(await begin({ alt_txt: 'x'.repeat(LIMITS.fileAlt + 1) })).toBe('alt_txt_too_large');
    expect(await begin({ filename: undefined })).toBe('invalid_arguments');
  });
});
