import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import type { ModelReply } from '../../../playground/model/model-reply.ts';
import {
  defineInterrupt,
  defineTool,
  generate,
  type Interrupt,
  type RespondReply,
  type Tool,
  type ToolSet,
} from '../../../src/index.ts';
import { startModel } from './support.ts';

describe('confirm, then execute', () => {
  const APPROVAL = { YES: 'Yes, confirmed.', NO: 'No, denied.' } as const;
  type Approval = (typeof APPROVAL)[keyof typeof APPROVAL];

  const both: ModelReply = {
    calls: [
      { name: 'getWeatherInformation', arguments: { city: 'Lisbon' } },
      { name: 'getLocalTime', arguments: { location: 'Lisbon' } },
    ],
  };

  function defineLocalTime(asked: string[]) {
    return defineTool(
      {
        name: 'getLocalTime',
        description: 'get the local time for a specified location',
        inputSchema: z.object({ location: z.string() }),
        outputSchema: z.string(),
      },
      async ({ location }) => {
        asked.push(location);
        return '10am';
      },
    );
  }

  test.each([
    [APPROVAL.YES, ['Lisbon'], 'The weather in Lisbon is sunny.'],
    [APPROVAL.NO, [], 'Error: User denied access to weather information'],
  ] as const)('a tool without a function is carried out by whoever hears "%s"', async (answer, ran, told) => {
    const getWeatherInformation = defineInterrupt({
      name: 'getWeatherInformation',
      description: 'show the weather in a given city to the user',
      inputSchema: z.object({ city: z.string() }),
      outputSchema: z.string(),
    });
    const timesAsked: string[] = [];
    const getLocalTime = defineLocalTime(timesAsked);
    const tools = [getWeatherInformation, getLocalTime] as const;
    const executed: string[] = [];
    const executeWeatherTool = async ({ city }: { city: string }) => {
      executed.push(city);
      return `The weather in ${city} is sunny.`;
    };
    const { model, lastResults } = await startModel(both, { text: 'Done.' });

    const paused = await generate({ model, tools, prompt: 'Weather and time in Lisbon?' });
    expect(paused.interrupts.map(({ toolRequest }) => toolRequest.name)).toEqual(['getWeatherInformation']);
    expect(timesAsked).toEqual(['Lisbon']);

    const respond = [];
    for (const part of paused.interrupts) {
      if (part.toolRequest.name !== 'getWeatherInformation') continue;
      const output =
        answer === APPROVAL.YES
          ? await executeWeatherTool(part.toolRequest.input)
          : 'Error: User denied access to weather information';
      respond.push(getWeatherInformation.respond(part, output));
    }
    const response = await generate({ model, tools, messages: paused.messages, resume: { respond } });

    expect(response.text).toBe('Done.');
    expect(executed).toEqual(ran);
    expect(timesAsked).toEqual(['Lisbon']);
    expect(lastResults()).toEqual([told, '10am']);
  });

  test.each([
    [APPROVAL.YES, ['Lisbon'], 'The weather in Lisbon is sunny.'],
    [APPROVAL.NO, [], '{"status":"denied","reason":"User denied access to tool execution"}'],
  ] as const)(
    'a tool with a function runs itself when it is restarted with "%s"',
    async (answer, ran, told) => {
      const executed: string[] = [];
      const getWeatherInformation = defineTool(
        {
          name: 'getWeatherInformation',
          description: 'show the weather in a given city to the user',
          inputSchema: z.object({ city: z.string() }),
          outputSchema: z.string(),
        },
        async ({ city }, { interrupt, resumed, deny }) => {
          if (resumed === undefined) return interrupt({ question: `Get weather information for ${city}?` });
          if (resumed.answer !== APPROVAL.YES) deny('User denied access to tool execution');
          executed.push(city);
          return `The weather in ${city} is sunny.`;
        },
      );
      const timesAsked: string[] = [];
      const tools = [getWeatherInformation, defineLocalTime(timesAsked)] as const;
      const { model, lastResults } = await startModel(both, { text: 'Done.' });
      const confirm = (): Approval => answer;

      const paused = await generate({ model, tools, prompt: 'Weather and time in Lisbon?' });
      expect(paused.interrupts[0]?.metadata).toEqual({ question: 'Get weather information for Lisbon?' });
      const restart = paused.interrupts
        .filter((interrupt) => interrupt.toolRequest.name === 'getWeatherInformation')
        .map((interrupt) => getWeatherInformation.restart(interrupt, { answer: confirm() }));
      const response = await generate({ model, tools, messages: paused.messages, resume: { restart } });

      expect(response.text).toBe('Done.');
      expect(executed).toEqual(ran);
      expect(timesAsked).toEqual(['Lisbon']);
      expect(lastResults()).toEqual([told, '10am']);
    },
  );
});

describe("an abstraction of one's own", () => {
  const APPROVAL = { YES: 'Yes, confirmed.', NO: 'No, denied.' } as const;
  const getWeatherInformation = defineInterrupt({
    name: 'getWeatherInformation',
    description: 'show the weather in a given city to the user',
    inputSchema: z.object({ city: z.string() }),
    outputSchema: z.string(),
    // no function, we want human in the loop
  });
  const getLocalTime = defineTool(
    {
      name: 'getLocalTime',
      description: 'get the local time for a specified location',
      inputSchema: z.object({ location: z.string() }),
      outputSchema: z.string(),
    },
    // including a function -> no confirmation required
    async () => '10am',
  );
  const tools = { getWeatherInformation, getLocalTime } satisfies ToolSet;

  /** Runs the tools that a person has confirmed, and answers for the others. */
  async function processToolCalls(
    interrupts: readonly Interrupt<'getWeatherInformation', { city: string }>[],
    decide: (interrupt: Interrupt) => string,
    executeFunctions: { getWeatherInformation: (input: { city: string }) => Promise<string> },
  ): Promise<RespondReply[]> {
    return Promise.all(
      interrupts.map(async (part) => {
        const result =
          decide(part) === APPROVAL.YES
            ? await executeFunctions.getWeatherInformation(part.toolRequest.input)
            : 'Error: User denied access to tool execution';
        return getWeatherInformation.respond(part, result);
      }),
    );
  }

  function getToolsRequiringConfirmation(given: Readonly<Record<string, Tool>>): string[] {
    return Object.keys(given).filter((key) => given[key]?.kind === 'interrupt');
  }

  test('knows which tools need a confirmation, and carries out what was confirmed', async () => {
    expect(getToolsRequiringConfirmation(tools)).toEqual(['getWeatherInformation']);
    const { model, lastResults } = await startModel(
      {
        calls: ['Lisbon', 'Oslo'].map((city) => ({ name: 'getWeatherInformation', arguments: { city } })),
      },
      { text: 'Done.' },
    );
    const paused = await generate({ model, tools, prompt: 'Weather in Lisbon and Oslo?' });
    const isLisbon = (interrupt: Interrupt) => JSON.stringify(interrupt.toolRequest.input).includes('Lisbon');
    const respond = await processToolCalls(
      paused.interrupts.filter((part) => getWeatherInformation.matches(part)),
      (part) => (isLisbon(part) ? APPROVAL.YES : APPROVAL.NO),
      { getWeatherInformation: async ({ city }) => `The weather in ${city} is sunny.` },
    );
    const response = await generate({
      model,
      tools,
      maxSteps: 5,
      messages: paused.messages,
      resume: { respond },
    });

    expect(response.text).toBe('Done.');
    expect(lastResults()).toEqual([
      'The weather in Lisbon is sunny.',
      'Error: User denied access to tool execution',
    ]);
  });
});
