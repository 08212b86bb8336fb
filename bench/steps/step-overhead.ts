import OpenAI from 'openai';
import { z } from 'zod';
import { defineTool, generate, type Message, openAIModel, parseMessage } from '../../src/index.ts';
import { buildHistory } from '../support/history.ts';
import { type InstantModel, startInstantModel } from '../support/instant-model.ts';
import type { Table } from '../support/table.ts';
import { type Comparison, compare, type Pace } from './compare.ts';

/** The size of a step. `memory`: the messages are objects of an earlier step; `json`: they were just parsed. */
interface Setting {
  readonly tools: number;
  readonly messages: number;
  readonly from: 'memory' | 'json';
}

interface Measured extends Comparison {
  readonly setting: Setting;
  readonly bytes: number;
}

const SETTINGS: readonly Setting[] = [
  ...[1, 10, 100].map((tools): Setting => ({ tools, messages: 10, from: 'memory' })),
  ...[100, 1_000].map((messages): Setting => ({ tools: 1, messages, from: 'memory' })),
  ...[10, 100, 1_000].map((messages): Setting => ({ tools: 1, messages, from: 'json' })),
];

/** Measures the cost of a step of `generate` above the bare client that sends the same bytes. */
export async function measureStepOverhead(pace: Pace): Promise<Table> {
  const instant = await startInstantModel();
  try {
    // The first measure of a process runs code that is not compiled yet.
    await measure({ tools: 10, messages: 100, from: 'json' }, instant, { ...pace, warmUps: 1000 });
    const rows: string[][] = [];
    for (const setting of SETTINGS) rows.push(formatRow(await measure(setting, instant, pace)));
    return {
      title: 'One step of `generate` against the bare `openai` client with the same request (medians)',
      columns: [
        'tools',
        'messages',
        'history from',
        'request bytes',
        'bare ms',
        'ours ms',
        'difference ms',
        'ratio',
      ],
      rows,
    };
  } finally {
    instant.stop();
  }
}

async function measure(setting: Setting, instant: InstantModel, pace: Pace): Promise<Measured> {
  const tools = Array.from({ length: setting.tools }, (_, place) => buildTool(place));
  const text = JSON.stringify(buildHistory(setting.messages));
  const parseCopy = (): Message[] => JSON.parse(text);
  const inMemory = parseCopy().map(parseMessage);
  const model = openAIModel({ model: 'instant', apiKey: 'bench', baseURL: instant.url });
  const step = async (messages: readonly Message[]) => {
    const { finishReason } = await generate({ model, tools, messages, system: 'You help.' });
    if (finishReason !== 'stop') throw new Error(`A step of the bench ended with "${finishReason}".`);
  };

  await step(inMemory);
  const sent = await instant.lastBody();
  const body: OpenAI.Chat.Completions.ChatCompletionCreateParamsStreaming = JSON.parse(sent);
  const client = new OpenAI({ apiKey: 'bench', baseURL: instant.url, maxRetries: 0, logLevel: 'off' });
  const bare = async () => {
    const stream = await client.chat.completions.create(body);
    for await (const _ of stream);
  };
  await bare();
  if ((await instant.lastBody()) !== sent)
    throw new Error('The two sides of the bench sent different requests.');

  // Parsing the text is not the loop's work, so the copies are made before the clock starts.
  const copies = Array.from({ length: setting.from === 'json' ? pace.warmUps + pace.rounds : 0 }, parseCopy);
  const comparison = await compare(bare, () => step(copies.pop() ?? inMemory), pace);
  return { ...comparison, setting, bytes: Buffer.byteLength(sent) };
}

function buildTool(place: number) {
  return defineTool(
    {
      name: `lookUpOrder${place}`,
      description: `Looks up an order in region ${place} and says what is in it and where it is now.`,
      inputSchema: z.object({
        order: z.string().describe('the number of the order, as the customer gives it'),
        fields: z.array(z.enum(['items', 'status', 'address'])).describe('what to look up'),
        since: z.number().optional().describe('leave out what is older than this many days'),
      }),
      outputSchema: z.string(),
    },
    () => 'nothing',
  );
}

function formatRow({ setting, bytes, bareMs, oursMs, differenceMs }: Measured): string[] {
  return [
    String(setting.tools),
    setting.messages.toLocaleString('en'),
    setting.from,
    bytes.toLocaleString('en'),
    bareMs.toFixed(3),
    oursMs.toFixed(3),
    differenceMs.toFixed(3),
    (oursMs / bareMs).toFixed(2),
  ];
}
