import { z } from 'zod';
import type { ActionName, Actions } from '../../protocol.ts';

const ts = z.string().regex(/^\d{10}\.\d{6}$/);
const channel = z.string();
const message = z.strictObject({ channel, ts });
const reaction = z.strictObject({ channel, ts, name: z.string().regex(/^[a-z0-9_+'-]{1,100}$/) });
const target = z.union([message, z.strictObject({ viewId: z.string() })]);
const json = z.record(z.string(), z.unknown());
const filled = z.record(z.string(), z.union([z.string(), z.number(), z.array(z.string()), json]));

/** Schemas of the actions; every request body is parsed with them first. */
export const ACTION_SCHEMAS: { readonly [N in ActionName]: z.ZodType<Actions[N]> } = {
  send: z.strictObject({
    channel,
    text: z.string(),
    threadTs: ts.exactOptional(),
    files: z.array(z.strictObject({ name: z.string().min(1), data: z.base64() })).exactOptional(),
  }),
  shortcut: z.strictObject({ channel, ts, callbackId: z.string() }),
  edit: z.strictObject({ channel, ts, text: z.string() }),
  delete: message,
  react: reaction,
  unreact: reaction,
  join: z.strictObject({ channel }),
  leave: z.strictObject({ channel }),
  click: z.strictObject({
    target,
    actionId: z.string(),
    blockId: z.string(),
    value: z.union([z.string(), z.number(), z.array(z.string())]).exactOptional(),
    values: filled.exactOptional(),
  }),
  search: z.strictObject({ target, actionId: z.string(), typed: z.string() }),
  submit: z.strictObject({ viewId: z.string(), values: filled }),
  close: z.strictObject({ viewId: z.string() }),
  openHome: z.strictObject({ tab: z.enum(['home', 'messages']) }),
  command: z.strictObject({ command: z.string(), text: z.string(), channel }),
  stop: z.strictObject({ channel, threadTs: ts }),
  read: z.strictObject({ channel, threadTs: ts.exactOptional(), ts }),
  dismiss: message,
};

/** True for the name of something a person can do. */
export function isActionName(name: string): name is ActionName {
  return Object.hasOwn(ACTION_SCHEMAS, name);
}
