import { spawn } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { describe, expect, inject, onTestFinished, test } from 'vitest';
import { startLocalModel } from '../playground/model/start-local-model.ts';
import { generate, openAIModel } from '../src/index.ts';
import { httpTool } from '../src/tools/http/http-tool.ts';
import { proxiedFetch, readProxy } from '../src/tools/http/proxy.ts';
import { parseManifest } from '../src/tools/manifest/parse.ts';
import { Secrets } from '../src/tools/secrets.ts';
import { openToolbox } from '../src/tools/toolbox/open-toolbox.ts';
import { GOOD, run, writeManifest } from './commands/support.ts';
import { CAST, startStory } from './stories/support.ts';
import { startConnectProxy } from './support/connect-proxy.ts';
import { startRecordingServer } from './tools/http/recording-server.ts';
import { runTool } from './tools/http/run-tool.ts';
import { serveHttp } from './tools/mcp/fixtures/http-server.ts';

describe('through a proxy', () => {
  test('the model is asked, and not around it', async () => {
    const proxy = await startConnectProxy();
    const server = await startLocalModel({ script: [{ text: 'Hi.' }] });
    onTestFinished(() => server.stop());
    const { port } = new URL(server.url);
    const model = openAIModel({
      model: 'scripted',
      apiKey: 'test',
      baseURL: `http://model.test:${port}/v1`,
      maxRetries: 0,
      fetch: proxiedFetch(proxy.settings),
    });
    expect((await generate({ model, prompt: 'Go' })).text).toBe('Hi.');
    expect(proxy.targets).toEqual([`model.test:${port}`]);
    expect(proxy.around()).toEqual([]);
  });

  test('Slack is called and listened to, and so is the model of a whole bot, and nothing goes around it', async () => {
    const proxy = await startConnectProxy();
    const story = await startStory({ replies: [{ text: 'Hello.' }], withoutBot: true });
    const { settings } = story.setup;
    const apiUrl = settings.slack.apiUrl?.replace('127.0.0.1', 'slack.test');
    const before = proxy.around().length;
    await story.startOwnBot({
      settings: {
        ...settings,
        slack: { ...settings.slack, apiUrl },
        model: { ...settings.model, baseURL: story.model.url.replace('127.0.0.1', 'model.test') },
        proxy: proxy.settings,
      },
    });
    await story.ask('hi', { as: CAST.alice }).shows(/Hello\./);
    const hosts = new Set(proxy.targets.map((target) => target.split(':')[0]));
    expect([...hosts].sort()).toEqual(['127.0.0.1', 'model.test', 'slack.test']);
    const redisPort = Number(new URL(inject('redisUrl')).port);
    const slackPort = Number(new URL(story.slack.apiUrl).port);
    // The address of the socket is Slack's own; it names this machine, and is reached through the proxy all the same.
    expect(proxy.targets).toContain(`127.0.0.1:${slackPort}`);
    expect(
      proxy
        .around()
        .slice(before)
        .filter((port) => port !== redisPort),
    ).toEqual([]);
  });

  test('an HTTP tool makes its call, and its guard still refuses what is not public by its name', async () => {
    const proxy = await startConnectProxy();
    const server = await startRecordingServer((response) => response.end('{"ok":true}'));
    onTestFinished(() => server.stop());
    const tool = (url: string) =>
      httpTool({
        name: 'call',
        description: 'Calls.',
        inputSchema: { type: 'object', properties: {} },
        method: 'GET',
        url,
        proxy: proxy.settings,
      });
    await expect(runTool(tool(`http://tool.test:${server.port}/a`), {})).resolves.toBeDefined();
    expect(server.requests.map(({ path }) => path)).toEqual(['/a']);
    for (const host of [
      '127.0.0.1',
      'localhost',
      '169.254.169.254',
      'metadata.google.internal',
      '10.0.0.1',
    ]) {
      await expect(runTool(tool(`http://${host}:${server.port}/b`), {})).rejects.toThrow(
        /not allowed|private|metadata/i,
      );
    }
    expect(proxy.targets).toEqual([`tool.test:${server.port}`]);
    expect(proxy.around()).toEqual([]);
  });

  test('a redirect to a private address is not followed', async () => {
    const proxy = await startConnectProxy();
    const server = await startRecordingServer((response) =>
      response.writeHead(302, { location: 'http://10.0.0.1/secret' }).end(),
    );
    onTestFinished(() => server.stop());
    const tool = httpTool({
      name: 'call',
      description: 'Calls.',
      inputSchema: { type: 'object', properties: {} },
      method: 'GET',
      url: `http://tool.test:${server.port}/`,
      proxy: proxy.settings,
    });
    await expect(runTool(tool, {})).rejects.toThrow();
    expect(proxy.targets).toEqual([`tool.test:${server.port}`]);
  });

  test('that is not there, nothing was sent', async () => {
    const gone = { httpProxy: 'http://127.0.0.1:1', httpsProxy: 'http://127.0.0.1:1', noProxy: '' };
    const tool = httpTool({
      name: 'call',
      description: 'Calls.',
      inputSchema: { type: 'object', properties: {} },
      method: 'POST',
      url: 'http://tool.test/',
      proxy: gone,
    });
    await expect(runTool(tool, {})).rejects.toThrow(/nothing was sent/);
  });

  test('a remote MCP server is reached', async () => {
    const proxy = await startConnectProxy();
    const server = await serveHttp();
    onTestFinished(() => server.stop());
    const parsed = parseManifest(
      `slack: { display_information: { name: A } }
policies: { default: { approvers: [U012ABCDEF] } }
tools: { web: { mcp: { url: "http://mcp.test:${server.port}/mcp" } } }
`,
      { file: 'manifest.yml', environment: {} },
    );
    if (!parsed.ok) throw new Error('The manifest does not hold');
    const log = { info: () => {}, warn: () => {} };
    const options = { folder: '.', secrets: new Secrets(), log, proxy: proxy.settings };
    const toolbox = await openToolbox(parsed.manifest, options);
    onTestFinished(() => toolbox.close());
    expect(toolbox.problems()).toEqual([]);
    expect(toolbox.servers().map(({ state }) => state)).toEqual(['connected']);
    expect(new Set(proxy.targets)).toEqual(new Set([`mcp.test:${server.port}`]));
    expect(proxy.around()).toEqual([]);
  });

  test.each([
    [['manifest', 'lock'], /\d+ definitions of 1 servers/],
    [['manifest', 'test'], /^ok +Asked/m],
    [['explain', 'greet', '{}', '--as', 'U012ABCDEF'], /Needs approval/],
  ])('%j lists the tools of a remote MCP server', async (argv, said) => {
    const proxy = await startConnectProxy();
    const server = await serveHttp();
    onTestFinished(() => server.stop());
    const web = `{ mcp: { url: "http://mcp.test:${server.port}/mcp" } }`;
    const MANIFEST = writeManifest(GOOD.replace('tools: {}', `tools: { web: ${web} }`));
    const cases =
      'cases: [{ name: Asked, given: { tool: greet, input: {}, requester: U012ABCDEF }, expect: approval }]\n';
    writeFileSync(join(dirname(MANIFEST), 'manifest.test.yml'), cases);
    const { code, out, error } = await run(argv, { MANIFEST, HTTP_PROXY: proxy.settings.httpProxy });
    expect([code, error]).toEqual([0, '']);
    expect(out).toMatch(said);
    expect(new Set(proxy.targets)).toEqual(new Set([`mcp.test:${server.port}`]));
    expect(proxy.around()).toEqual([]);
  });
});

describe('the proxies of the environment', () => {
  test('are read in either spelling, and this machine is reached without them', () => {
    expect(readProxy({ HTTPS_PROXY: 'http://p:1', NO_PROXY: 'a.test' })).toEqual({
      httpProxy: '',
      httpsProxy: 'http://p:1',
      noProxy: 'a.test,localhost,127.0.0.1,[::1]',
    });
    expect(readProxy({ http_proxy: 'http://low:1', HTTP_PROXY: 'http://up:1' })?.httpProxy).toBe(
      'http://low:1',
    );
    expect(readProxy({ HTTP_PROXY: 'http://p:1', no_proxy: '*' })?.noProxy).toBe('*');
  });

  test('are none where none is named', () => {
    expect(readProxy({ NO_PROXY: 'a.test' })).toBeUndefined();
  });

  test('that are no addresses are named by every command, without their values', () => {
    expect(() => readProxy({ HTTPS_PROXY: 'bot:pass-4711@proxy.corp:3128' })).toThrow(
      /^HTTPS_PROXY: must be a URL such as [^@]*$/,
    );
  });

  test('leave out the hosts that are to be reached directly', async () => {
    const proxy = await startConnectProxy();
    const server = await startRecordingServer();
    onTestFinished(() => server.stop());
    const settings = { ...proxy.settings, noProxy: '127.0.0.1' };
    expect(await (await proxiedFetch(settings)(server.origin)).text()).toBe('reached');
    expect(proxy.targets).toEqual([]);
    expect(proxy.around()).toContain(server.port);
  });
});

test('a certificate of NODE_EXTRA_CA_CERTS is trusted by every kind of connection, with a proxy and without', async () => {
  const folder = new URL('./store/redis/fixtures/tls/', import.meta.url);
  const certificate = fileURLToPath(new URL('certificate.pem', folder));
  const key = readFileSync(new URL('key.pem', folder));
  const server = createServer({ cert: readFileSync(certificate), key }, (_request, response) =>
    response.end('ok'),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  const proxy = await startConnectProxy();
  const file = (path: string) => JSON.stringify(new URL(`../src/tools/http/${path}`, import.meta.url).href);
  // The model and Slack's Web API use the first, sockets the second, HTTP tools and MCP servers the third.
  const code = `import { fetch as fetchBy } from 'undici';
    import { openDispatcher, proxiedFetch } from ${file('proxy.ts')};
    import { guardedFetch } from ${file('guard/guarded-fetch.ts')};
    const allowPrivate = ['localhost'];
    const sends = [undefined, ${JSON.stringify(proxy.settings)}].flatMap((proxy) => [
      proxiedFetch(proxy),
      (url) => fetchBy(url, { dispatcher: openDispatcher(proxy) }),
      guardedFetch({ allowPrivate, proxy }),
    ]);
    const answers = sends.map((send) => send('https://localhost:${port}/').then((r) => r.text(), () => 'refused'));
    process.stdout.write((await Promise.all(answers)).join(' '), () => process.exit());`;
  const ask = async (env: NodeJS.ProcessEnv): Promise<string> => {
    const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', code], {
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    return text(child.stdout);
  };
  expect(await ask({ NODE_EXTRA_CA_CERTS: certificate })).toBe('ok ok ok ok ok ok');
  expect(proxy.targets).toEqual(Array(3).fill(`localhost:${port}`));
  expect(await ask({ NODE_EXTRA_CA_CERTS: '' })).toBe(Array(6).fill('refused').join(' '));
});
