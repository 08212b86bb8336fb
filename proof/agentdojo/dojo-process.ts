import { mkdtempSync } from 'node:fs';
import { createConnection, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';

/** A call of a ground truth. */
const Call = z.object({ name: z.string(), input: z.record(z.string(), z.json()) });
export type Call = z.infer<typeof Call>;

const Tasks = z.object({ user: z.array(z.string()), injection: z.array(z.string()) });
const Script = z.object({
  prompt: z.string(),
  user: z.array(Call),
  attacker: z.array(Call),
  answer: z.string(),
  attackerAnswer: z.string(),
});
/** The script of the model in a case: the user's calls, then the attacker's, then both answers. */
export type Script = z.infer<typeof Script>;

const Verdict = z.object({ utility: z.boolean(), security: z.boolean() });
/** The verdict of AgentDojo's own checks: the user has what they asked for, and the attacker too. */
export type Verdict = z.infer<typeof Verdict>;

const Answer = z.union([z.object({ result: z.json() }), z.object({ error: z.string() })]);

export interface CaseId {
  readonly user: string;
  readonly injection: string;
}

/** Returns a fresh path for the socket of a process. */
export function socketPath(): string {
  return join(mkdtempSync(join(tmpdir(), 'countersign-dojo-')), 'control');
}

/** Sets up and judges cases in the process whose tools the bot calls. */
export class DojoProcess {
  readonly #socket: Socket;
  readonly #answers: AsyncIterator<string>;

  private constructor(socket: Socket) {
    this.#socket = socket;
    this.#answers = createInterface({ input: socket })[Symbol.asyncIterator]();
  }

  static async connect(path: string): Promise<DojoProcess> {
    for (let tries = 0; ; tries += 1) {
      const socket = createConnection(path);
      const error = await new Promise<unknown>((resolve) => {
        socket.once('connect', () => resolve(undefined));
        socket.once('error', resolve);
      });
      if (error === undefined) return new DojoProcess(socket);
      if (tries === 100) throw error;
      await sleep(100);
    }
  }

  async tasks(): Promise<z.infer<typeof Tasks>> {
    return Tasks.parse(await this.#ask({ do: 'list' }));
  }

  async start(id: CaseId): Promise<Script> {
    return Script.parse(await this.#ask({ do: 'start', ...id }));
  }

  async judge(output: string): Promise<Verdict> {
    return Verdict.parse(await this.#ask({ do: 'judge', output }));
  }

  /** Plays calls in AgentDojo alone, without the bot. */
  async compare(id: CaseId, calls: readonly Call[], output: string): Promise<Verdict> {
    return Verdict.parse(await this.#ask({ do: 'compare', ...id, calls, output }));
  }

  close(): void {
    this.#socket.destroy();
  }

  async #ask(request: object): Promise<unknown> {
    this.#socket.write(`${JSON.stringify(request)}\n`);
    const { value } = await this.#answers.next();
    const answer = Answer.parse(JSON.parse(String(value)));
    if ('error' in answer) throw new Error(`AgentDojo: ${answer.error}`);
    return answer.result;
  }
}
