import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { defineInterrupt, defineTool, generate } from '../../../src/index.ts';
import { nonEmpty } from '../../support/non-empty.ts';
import { startModel } from './support.ts';

describe('manual-response interrupts', () => {
  const askQuestion = defineInterrupt({
    name: 'askQuestion',
    description: 'use this to ask the user a clarifying question',
    inputSchema: z.object({
      choices: z.array(z.string()).describe('the choices to display to the user'),
      allowOther: z.boolean().optional().describe('when true, allow write-ins'),
    }),
    outputSchema: z.string(),
  });

  test('a trivia question returns at once, before anybody has answered it', async () => {
    const { local, model } = await startModel({
      text: 'Who directed Jaws?',
      calls: [{ name: 'askQuestion', arguments: { choices: ['Spielberg', 'Lucas'], allowOther: false } }],
    });

    const response = await generate({
      model,
      prompt: 'Ask me a movie trivia question.',
      tools: [askQuestion],
    });

    expect(response.finishReason).toBe('interrupted');
    expect(response.interrupts).toHaveLength(1);
    expect(response.interrupts[0]?.toolRequest.input.choices).toEqual(['Spielberg', 'Lucas']);
    expect(response.text).toBe('Who directed Jaws?');
    expect(local.requests).toHaveLength(1);
  });

  test('a prompt with a hole in it is a function', async () => {
    const { local, model } = await startModel({ text: 'What was ENIAC?' });
    const triviaPrompt = ({ subject }: { subject: string }) =>
      generate({ model, tools: [askQuestion], prompt: `Ask me a trivia question about ${subject}.` });

    const response = await triviaPrompt({ subject: 'computer history' });

    expect(response.text).toBe('What was ENIAC?');
    expect(local.requests[0]?.messages).toEqual([
      { role: 'user', content: 'Ask me a trivia question about computer history.' },
    ]);
  });

  test('a chat is a list of messages that is handed on', async () => {
    const { local, model } = await startModel({ text: 'How old?' }, { text: 'A plan.' });
    const system = 'Use the askQuestion tool if you need to clarify something.';

    const first = await generate({
      model,
      system,
      tools: [askQuestion],
      prompt: 'make a plan for my birthday party',
    });
    const second = await generate({ model, tools: [askQuestion], messages: first.messages, prompt: '40' });

    expect(second.text).toBe('A plan.');
    expect(local.requests[1]?.messages.map(({ role }) => role)).toEqual([
      'system',
      'user',
      'assistant',
      'user',
    ]);
  });

  test('a tool that only interrupts, as in Python, is answered in the same way', async () => {
    const { model, lastResults } = await startModel(
      { calls: [{ name: 'ask_question', arguments: { choices: ['Jaws', 'Alien'], allow_other: true } }] },
      { text: 'Right.' },
    );
    const askInPython = defineTool(
      {
        name: 'ask_question',
        description: 'Use this to ask the user a clarifying question',
        inputSchema: z.object({
          choices: z.array(z.string()).describe('the choices to display to the user'),
          allow_other: z.boolean().describe('when true, allow write-ins'),
        }),
        outputSchema: z.string(),
      },
      (_input, ctx) => ctx.interrupt(),
    );
    // By name, as in Python.
    const tools = { ask_question: askInPython };

    const interrupted = await generate({ model, prompt: 'Ask me a movie trivia question.', tools });
    expect(interrupted.finishReason === 'interrupted' && interrupted.interrupts.length > 0).toBe(true);
    // As tool_response does in Python: an output with the name and the ref of the call, and nothing else.
    const respond = interrupted.interrupts.map(({ toolRequest: { name, ref } }) => ({
      toolResponse: { name, ref, output: 'Jaws' },
    }));
    const { messages } = interrupted;
    const response = await generate({ model, tools, messages, resume: { respond } });

    expect(response.text).toBe('Right.');
    expect(lastResults()).toEqual(['Jaws']);
  });

  test('a barbecue is planned with as many rounds of questions as the model needs', async () => {
    const { local, model, lastResults } = await startModel(
      {
        calls: [
          { name: 'askQuestion', arguments: { choices: ['5', '10', '20'] } },
          { name: 'askQuestion', arguments: { choices: ['meat', 'vegetables'], allowOther: true } },
        ],
      },
      { calls: [{ name: 'askQuestion', arguments: { choices: ['Saturday', 'Sunday'] } }] },
      { text: 'Ten guests, tofu, Sunday: here is the plan.' },
    );
    const asked: string[] = [];
    const askUser = async ({
      choices,
      allowOther,
    }: {
      choices: string[];
      allowOther?: boolean | undefined;
    }) => {
      asked.push(choices.join(' or '));
      return allowOther === true ? 'tofu' : (choices[1] ?? '');
    };

    let response = await generate({
      model,
      tools: [askQuestion],
      system: 'ask clarifying questions until you have a complete solution',
      prompt: 'help me plan a backyard BBQ',
    });
    while (response.interrupts.length > 0) {
      const answers = [];
      for (const question of response.interrupts) {
        answers.push(askQuestion.respond(question, await askUser(question.toolRequest.input)));
      }
      // As in the seed, the system text is not repeated.
      response = await generate({
        model,
        tools: [askQuestion],
        messages: response.messages,
        resume: { respond: answers },
      });
    }

    const systems = local.requests.map(({ messages }) => messages[0]);
    expect(systems).toEqual(
      Array(3).fill({
        role: 'system',
        content: 'ask clarifying questions until you have a complete solution',
      }),
    );
    expect(asked).toEqual(['5 or 10 or 20', 'meat or vegetables', 'Saturday or Sunday']);
    expect(lastResults()).toEqual(['10', 'tofu', 'Sunday']);
    expect(response.finishReason).toBe('stop');
    expect(response.text).toBe('Ten guests, tofu, Sunday: here is the plan.');
  });
});

describe('a restartable tool', () => {
  type Confirmation = { status: 'APPROVED' | 'REJECTED' };

  async function transfer(amount: number, confirmation: Confirmation) {
    const transfers: { toAccountId: string; amount: number }[] = [];
    const transferMoney = defineTool(
      {
        name: 'transferMoney',
        description: 'Transfers money between accounts.',
        inputSchema: z.object({
          toAccountId: z.string().describe('the account id of the transfer destination'),
          amount: z.number().describe('the amount in integer cents (100 = $1.00)'),
        }),
        outputSchema: z.object({
          status: z.string().describe('the outcome of the transfer'),
          message: z.string().optional(),
        }),
      },
      async (input, { interrupt, resumed }) => {
        if (resumed?.status === 'REJECTED') {
          return { status: 'REJECTED', message: 'The user rejected the transaction.' };
        }
        if (resumed?.status !== 'APPROVED' && input.amount > 10_000) {
          interrupt({ message: 'Please confirm sending an amount > $100.' });
        }
        transfers.push(input);
        return { status: 'COMPLETED' };
      },
    );
    const { model, lastResults } = await startModel(
      { calls: [{ name: 'transferMoney', arguments: { toAccountId: 'ABC123', amount } }] },
      { text: 'That is all.' },
    );
    const confirmations: unknown[] = [];

    let response = await generate({
      model,
      tools: [transferMoney],
      prompt: `Transfer ${amount} cents to account ABC123`,
    });
    while (response.interrupts.length > 0) {
      const restarts = [];
      for (const interrupt of nonEmpty(response.interrupts)) {
        expect(transfers).toEqual([]);
        confirmations.push(interrupt.metadata?.message);
        restarts.push(transferMoney.restart(interrupt, confirmation));
      }
      response = await generate({
        model,
        tools: [transferMoney],
        messages: response.messages,
        resume: { restart: restarts },
      });
    }

    expect(response.text).toBe('That is all.');
    return { transfers, confirmations, results: lastResults() };
  }

  test('up to its limit a transfer runs without a question', async () => {
    const { transfers, confirmations, results } = await transfer(10_000, { status: 'REJECTED' });

    expect(confirmations).toEqual([]);
    expect(transfers).toEqual([{ toAccountId: 'ABC123', amount: 10_000 }]);
    expect(results).toEqual(['{"status":"COMPLETED"}']);
  });

  test('above its limit a transfer runs once it is approved', async () => {
    const { transfers, confirmations, results } = await transfer(100_000, { status: 'APPROVED' });

    expect(confirmations).toEqual(['Please confirm sending an amount > $100.']);
    expect(transfers).toEqual([{ toAccountId: 'ABC123', amount: 100_000 }]);
    expect(results).toEqual(['{"status":"COMPLETED"}']);
  });

  test('above its limit a rejected transfer never runs, and the model is told', async () => {
    const { transfers, results } = await transfer(100_000, { status: 'REJECTED' });

    expect(transfers).toEqual([]);
    expect(results).toEqual(['{"status":"REJECTED","message":"The user rejected the transaction."}']);
  });
});

describe('exit from an autonomous task', () => {
  const completeTask = defineInterrupt({
    name: 'completeTask',
    description: 'use this when the task is complete',
    inputSchema: z.object({ outcome: z.enum(['done', 'impossible']), files: z.array(z.string()) }),
    outputSchema: z.string(),
  });
  const listFiles = defineTool(
    { name: 'listFiles', description: 'lists files', outputSchema: z.array(z.string()) },
    () => ['a.txt', 'b.txt'],
  );
  const tools = [listFiles, completeTask] as const;

  test('the loop ends with a structured result, and the thread can go on from there', async () => {
    const { local, model } = await startModel(
      { calls: [{ name: 'listFiles', arguments: {} }] },
      { calls: [{ name: 'completeTask', arguments: { outcome: 'done', files: ['a.txt', 'b.txt'] } }] },
      { text: 'b.txt is the newer one.' },
    );

    const finished = await generate({ model, tools, prompt: 'Find the text files.' });

    const [exit] = finished.interrupts;
    if (exit?.toolRequest.name !== 'completeTask') throw new Error('The task did not end with completeTask.');
    expect(exit.toolRequest.input).toEqual({ outcome: 'done', files: ['a.txt', 'b.txt'] });
    expect(local.requests).toHaveLength(2);

    const response = await generate({
      model,
      tools,
      messages: finished.messages,
      resume: { respond: completeTask.respond(exit, 'accepted') },
      prompt: 'Which one is newer?',
    });

    expect(response.text).toBe('b.txt is the newer one.');
    expect(local.requests[2]?.messages.slice(-2)).toEqual([
      { role: 'tool', tool_call_id: exit.toolRequest.ref, content: 'accepted' },
      { role: 'user', content: 'Which one is newer?' },
    ]);
  });
});
