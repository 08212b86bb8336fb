import OpenAI from 'openai';
import { z } from 'zod';
import { defineTool, generate, type Message, openAIModel, parseMessage } from '../src/index.ts';
import { buildHistory } from './build-history.ts';
import { type Comparison, compare, type Pace } from './compare.ts';
import { type InstantModel, startInstantModel } from './start-instant-model.ts';
import type { Table } from './table.ts';

/** What a step is measured with. `memory`: the process has seen the messages before; `json`: they were just read back. */
interface Setting {
  readonly tools: number;
  readonly messages: number;
  readonly from: 'memory' | 'json';
}

interface Measured extends Comparison {
  readonly setting: Setting;
  readonly bytes: number;
}

const series: readonly (readonly Setting[])[] = [
  [1, 10, 100].map((tools) => ({ tools, messages: 10, from: 'memory' })),
  [10, 100, 1000].map((messages) => ({ tools: 1, messages, from: 'memory' })),
  [10, 100, 1000].map((messages) => ({ tools: 1, messages, from: 'json' })),
];

/** Measures what a step of `generate` costs above the bare client sending the very same bytes. */
export async function measureStepOverhead(pace: Pace): Promise<Table> {
  const instant = await startInstantModel();
  try {
    // The first measure of a process runs code that is not compiled yet, and would make the rows after it look good.
    await measure({ tools: 10, messages: 100, from: 'json' }, instant, { ...pace, warmUps: 1000 });
    const rows: string[][] = [];
    for (const settings of series) {
      const measured: Measured[] = [];
      for (const setting of settings) measured.push(await measure(setting, instant, pace));
      rows.push(...measured.map((row) => writeRow(row, measured[0])));
    }
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
        'bytes grow',
        'difference grows',
      ],
      rows,
    };
  } finally {
    instant.stop();
  }
}

async function measure(setting: Setting, instant: InstantModel, pace: Pace): Promise<Measured> {
  const tools = Array.from({ length: setting.tools }, (_, place) => buildTool(place));
  const kept = JSON.stringify(buildHistory(setting.messages));
  const read = (): Message[] => JSON.parse(kept);
  const inMemory = read().map(parseMessage);
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

  // Reading the text is not the loop's work, so the copies are made before the clock runs.
  const copies = Array.from({ length: setting.from === 'json' ? pace.warmUps + pace.rounds : 0 }, read);
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

function writeRow(
  { setting, bytes, bareMs, oursMs, differenceMs }: Measured,
  first: Measured | undefined,
): string[] {
  const isFirst = first === undefined || first.setting === setting;
  const growth = (now: number, then: number) => (isFirst ? '' : `${(now / then).toFixed(1)}x`);
  return [
    String(setting.tools),
    String(setting.messages),
    setting.from,
    bytes.toLocaleString('en'),
    bareMs.toFixed(3),
    oursMs.toFixed(3),
    differenceMs.toFixed(3),
    (oursMs / bareMs).toFixed(2),
    growth(bytes, first?.bytes ?? bytes),
    growth(differenceMs, first?.differenceMs ?? differenceMs),
  ];
}
