import { Redis } from 'ioredis';
import { loadScripts, type Scripts } from '../../../src/store/redis/scripts.ts';
import type { Defect } from './defects.ts';
import { Arm, type FaultAction, type WorkerNews } from './fault-messages.ts';

const reached = new Set<string>();
const connections = new Set<Redis>();
let armed: Arm | undefined;

process.on('message', (message) => {
  const arm = Arm.safeParse(message);
  if (arm.success) armed = arm.data;
});

function tell(news: WorkerNews): Promise<void> {
  return new Promise((resolve) => {
    if (process.send === undefined) resolve();
    else process.send(news, () => resolve());
  });
}

/** Passes a point of the worker's way, or fails at it. */
export async function pass(point: string): Promise<void> {
  if (!reached.has(point)) {
    reached.add(point);
    void tell({ kind: 'reached', point });
  }
  if (!armed?.points.includes(point)) return;
  if (armed.passes > 0) {
    armed = { ...armed, passes: armed.passes - 1 };
    return;
  }
  const { action } = armed;
  armed = undefined;
  await tell({ kind: 'fault', point, action });
  fail(action);
}

function fail(action: FaultAction): void {
  switch (action) {
    case 'kill':
      process.kill(process.pid, 'SIGKILL');
      return;
    case 'stop':
      process.kill(process.pid, 'SIGSTOP');
      return;
    case 'cut':
      for (const connection of connections) connection.disconnect(true);
  }
}

/**
 * Puts a point before and after each script, each call of Slack and each call of the model. The edges of the process are
 * patched and not its code, so that the worker that fails is the one that is shipped.
 */
export function installFailpoints({ scripts, onReply, onModelBody }: Defect = {}): void {
  patchRedis(scripts, onReply);
  const fetch = globalThis.fetch;
  globalThis.fetch = async (input, init) => {
    const place = placeOf(String(input instanceof Request ? input.url : input));
    const isChanged = place === 'model' && typeof init?.body === 'string' && onModelBody !== undefined;
    const sent = isChanged ? { ...init, body: onModelBody(String(init.body)) } : init;
    await pass(`${place}:before`);
    const response = await fetch(input, sent);
    await pass(`${place}:after`);
    return response;
  };
}

/** With other scripts, those are run in place of the ones that the worker asks for by their digest. */
function patchRedis(others: Scripts | undefined, onReply: Defect['onReply']): void {
  const names = new Map(Object.entries(loadScripts()).map(([name, { sha }]) => [sha, name]));
  const replaced = new Map(Object.entries(others ?? {}).map(([name, script]) => [name, script]));
  const send = Redis.prototype.sendCommand;
  Redis.prototype.sendCommand = function (this: Redis, command, stream) {
    connections.add(this);
    const name = command.name === 'evalsha' ? names.get(String(command.args[0])) : undefined;
    if (name === undefined) return send.call(this, command, stream);
    const other = replaced.get(name);
    if (other !== undefined) {
      command.name = 'eval';
      command.args[0] = other.text;
    }
    const { resolve } = command;
    command.resolve = (value: unknown) => {
      void pass(`script ${name}:after`).then(() => {
        onReply?.(name, command.args.map(String), value);
        resolve(value);
      });
    };
    // Commands keep their order except for the one that waits here for its own end.
    const sent = pass(`script ${name}:before`).then(() => send.call(this, command, stream));
    // The sender learns of a failure by the command's own promise.
    sent.catch(() => {});
    return command.promise;
  };
}

const OWN_PLACES = ['chat.postMessage', 'chat.update', 'views.open'];

/** The purpose of a call: calls that show something to people are points of their own, calls that only read share one. */
function placeOf(url: string): string {
  const method = /\/api\/([\w.]+)/.exec(url)?.[1];
  if (method !== undefined) return OWN_PLACES.includes(method) ? `slack ${method}` : 'slack, other calls';
  return url.includes('/chat/completions') ? 'model' : 'response url';
}
