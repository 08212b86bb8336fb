import { z } from 'zod';
import { notDone } from '../agent/errors.ts';
import { isJsonObject, type JsonObject, type JsonValue, toJson } from '../agent/json.ts';
import { Json, JsonRecord } from '../agent/json-schema.ts';
import type { Interrupt } from '../agent/messages.ts';
import { MOST_CHOICES, toPauseMetadata } from '../agent/pause.ts';
import type { CompiledSchema } from '../agent/schema/json-schema.ts';
import type { Tool } from '../agent/tool.ts';
import { readableName } from './presentation/formats.ts';

/** The metadata key under which a pause keeps what it asks. */
const ASK = 'ask';

const Choice = z.object({ label: z.string(), value: Json });

/** The way in which people answer. */
const Way = z.discriminatedUnion('kind', [
  /** A yes lets the call go on with `value`; a no ends it. */
  z.object({ kind: z.literal('confirm'), value: JsonRecord }),
  z.object({
    kind: z.literal('choice'),
    /** None at all means that people answer in their own words. */
    choices: z.array(Choice),
    allowOther: z.boolean(),
    several: z.boolean(),
  }),
  z.object({ kind: z.literal('form'), schema: JsonRecord }),
  z.object({ kind: z.literal('callback'), schema: JsonRecord.optional(), link: z.string().optional() }),
]);
type Way = z.infer<typeof Way>;

const Answerers = z.union([z.enum(['requester', 'anyone']), z.strictObject({ policy: z.string() })]);
/** The people who may answer: those who asked for the call, everybody who may ask, or the approvers of a policy. */
export type Answerers = z.infer<typeof Answerers>;

const Ask = z.object({
  /** The question in the words of the tool or the model; '' if there are none. */
  message: z.string(),
  way: Way,
  by: Answerers,
  /** `respond` makes the answer the output of the call; `restart` runs the tool again with it. */
  reply: z.enum(['respond', 'restart']),
  /** The answers to earlier pauses of the same call. */
  before: JsonRecord,
});
/** A question of a paused call to people, written down when it paused. */
export type Ask = Readonly<z.infer<typeof Ask>>;

/** Returns what a paused call asks; `undefined` for a pause of a gate, a server or an account. */
export function askOf(interrupt: Pick<Interrupt, 'metadata'>): Ask | undefined {
  return Ask.safeParse(interrupt.metadata?.[ASK]).data;
}

/** The parts of a tool by which its question is read. */
export type AskingTool = Pick<Tool, 'name' | 'kind' | 'outputSchema'> & {
  readonly resumedSchema?: CompiledSchema | undefined;
};

/** The call that pauses. */
export interface PausingCall {
  readonly tool: AskingTool;
  readonly input: JsonValue;
  /** The answers to its earlier pauses. */
  readonly before?: JsonObject | undefined;
  /** The people who may answer, by whether a yes or a no is asked. */
  readonly answerers: (way: Way['kind']) => Answerers;
}

/** Adds to the metadata of a pause what it asks, so that every later reader has the same question; throws if nobody could answer it. */
export function withAsk(words: JsonObject, call: PausingCall): JsonObject {
  const { tool, input } = call;
  const given = isJsonObject(input) ? input : {};
  const own = ownWay(words, tool);
  // A tool that pauses without a word asks what its input says, as an interrupt does.
  const isAsking = tool.kind === 'interrupt' || (own === undefined && Array.isArray(given.choices));
  const way = own ?? (isAsking ? askedWay(given, tool) : (enumWay(tool) ?? confirmation(tool)));
  const ask: Ask = {
    message: textIn(words, ['message']) ?? (isAsking ? (textIn(given, QUESTION_KEYS) ?? '') : ''),
    way,
    // A report comes from another system, whoever may answer questions.
    by: way.kind === 'callback' ? 'requester' : call.answerers(way.kind),
    reply: isAsking ? 'respond' : 'restart',
    before: call.before ?? {},
  };
  return { ...words, [ASK]: toJson(ask) };
}

/** Lets an interrupt write down what it asks, and of whom. */
export function withAsking(
  tool: Extract<Tool, { kind: 'interrupt' }>,
  answerers: PausingCall['answerers'],
): Tool {
  return {
    ...tool,
    async requestMetadata(input) {
      const words = toPauseMetadata(await tool.requestMetadata?.(input), tool) ?? {};
      return withAsk(words, { tool, input: toJson(input), answerers });
    },
  };
}

const QUESTION_KEYS = ['question', 'message', 'prompt', 'title', 'text'];

function textIn(words: JsonObject, keys: readonly string[]): string | undefined {
  const text = keys
    .map((key) => words[key])
    .find((value) => typeof value === 'string' && value.trim() !== '');
  return typeof text === 'string' ? text : undefined;
}

/** Reads the way that a tool asks for by `choices`, `form` or `callback`. */
function ownWay(words: JsonObject, { kind }: AskingTool): Way | undefined {
  const { choices, form, callback } = words;
  if (Array.isArray(choices)) {
    const read = choices.map((choice: JsonValue) => choiceOf(choice, kind));
    return { kind: 'choice', choices: read, allowOther: words.allowOther === true, several: false };
  }
  if (isJsonObject(form)) return { kind: 'form', schema: form };
  if (!isJsonObject(callback)) return undefined;
  const { result, link } = callback;
  return {
    kind: 'callback',
    ...(isJsonObject(result) && { schema: result }),
    ...(typeof link === 'string' && { link }),
  };
}

function choiceOf(choice: JsonValue, kind: Tool['kind']): z.infer<typeof Choice> {
  if (isJsonObject(choice)) return { label: String(choice.label), value: choice.resumed ?? {} };
  const label = String(choice);
  return { label, value: kind === 'interrupt' ? label : { [CHOICE]: label } };
}

/** The key of `resumed` that has the words of a choice, or a person's own. */
const CHOICE = 'choice';

/** Reads the way from the input of a call, or else from what its output may be. */
function askedWay(input: JsonObject, { name, outputSchema }: AskingTool): Way {
  const output = outputSchema?.jsonSchema ?? {};
  const several = input.several === true;
  const listed = Array.isArray(input.choices) ? input.choices : [];
  if (listed.length > 0) {
    const choices = listed.map((choice: JsonValue) => choiceOf(choice, 'interrupt'));
    const labels = new Set(choices.map(({ label }) => label.trim().toLowerCase()));
    if (choices.length > MOST_CHOICES)
      throw notDone(new TypeError(`${name}: more than ${MOST_CHOICES} choices`));
    if (labels.has('')) throw notDone(new TypeError(`${name}: a choice is empty`));
    if (labels.size < choices.length) throw notDone(new TypeError(`${name}: two choices are the same`));
    const allowOther = input.allowOther === true || input.allow_other === true;
    return { kind: 'choice', choices, allowOther, several };
  }
  const values = valuesOf(output);
  if (values !== undefined)
    return { kind: 'choice', choices: labelled(values), allowOther: false, several: false };
  const isText = output.type === undefined || (output.type === 'string' && output.format === undefined);
  if (isText) return { kind: 'choice', choices: [], allowOther: true, several };
  return { kind: 'form', schema: output };
}

/** Lists the values that a schema allows, if they are few and plain. */
function valuesOf(schema: JsonObject): readonly JsonValue[] | undefined {
  if (schema.type === 'boolean') return [true, false];
  const alternatives = schema.anyOf ?? schema.oneOf;
  const constants = Array.isArray(alternatives)
    ? alternatives.map((each: JsonValue) => (isJsonObject(each) ? each.const : undefined))
    : undefined;
  const values = Array.isArray(schema.enum) ? schema.enum : constants;
  const arePlain = values?.every((value: JsonValue | undefined) =>
    ['string', 'number', 'boolean'].includes(typeof value),
  );
  if (values === undefined || arePlain !== true || values.length === 0 || values.length > MOST_CHOICES)
    return undefined;
  return values;
}

/** Names values for people: Yes and No, or readable words where they stay different. */
function labelled(
  values: readonly JsonValue[],
  toValue = (value: JsonValue) => value,
): z.infer<typeof Choice>[] {
  const label = (value: JsonValue): string => {
    if (typeof value === 'boolean') return value ? 'Yes' : 'No';
    const text = String(value);
    return readableName(/^[A-Z0-9_]+$/.test(text) ? text.toLowerCase() : text);
  };
  const labels = values.map(label);
  const areDifferent = new Set(labels.map((each) => each.toLowerCase())).size === values.length;
  return values.map((value, index) => ({
    label: (areDifferent ? labels[index] : undefined) ?? String(value),
    value: toValue(value),
  }));
}

/** Reads the one value with a list of words that a tool wants to be resumed with. */
function resumedEnum({
  resumedSchema,
}: AskingTool): { key: string; values: readonly JsonValue[] } | undefined {
  const { properties } = resumedSchema?.jsonSchema ?? {};
  const lists = Object.entries(isJsonObject(properties) ? properties : {}).flatMap(([key, schema]) => {
    const values = isJsonObject(schema) ? valuesOf(schema) : undefined;
    return values === undefined ? [] : [{ key, values }];
  });
  const [only] = lists;
  return lists.length === 1 ? only : undefined;
}

const YES = /^(approved?|confirmed|yes|accepted?|ok|true)$/i;
const NO = /^(rejected?|declined?|denied|deny|no|refused?|cancel(l?ed)?|false)$/i;

/** Tells whether a list of words is only a yes and a no. */
function isYesOrNo(values: readonly JsonValue[]): boolean {
  return (
    values.length === 2 &&
    values.some((each) => YES.test(String(each))) &&
    values.some((each) => NO.test(String(each)))
  );
}

function enumWay(tool: AskingTool): Way | undefined {
  const listed = resumedEnum(tool);
  if (listed === undefined || isYesOrNo(listed.values)) return undefined;
  const { key, values } = listed;
  return {
    kind: 'choice',
    choices: labelled(values, (value) => ({ [key]: value })),
    allowOther: false,
    several: false,
  };
}

/** A yes is `APPROVED`, or the word that the tool's own schema has for it. */
function confirmation(tool: AskingTool): Way {
  const listed = resumedEnum(tool);
  const yes =
    listed && isYesOrNo(listed.values) ? listed.values.find((each) => YES.test(String(each))) : undefined;
  return {
    kind: 'confirm',
    value: listed === undefined || yes === undefined ? { status: 'APPROVED' } : { [listed.key]: yes },
  };
}

/** A question as a card shows it. */
export interface Question {
  readonly message: string;
  readonly choices: readonly string[];
  /** Whether a written answer is accepted. */
  readonly allowOther: boolean;
  /** Whether several choices may be selected. */
  readonly several: boolean;
}

/** The words of a yes, and of a no, where a confirmation is asked as a question. */
export const YES_ANSWER = 'Approve';
const NO_ANSWER = 'Reject';

/** Returns the question of an ask that people answer by choosing or writing. */
export function questionIn({ message, way }: Ask): Question {
  if (way.kind === 'choice')
    return {
      message,
      choices: way.choices.map(({ label }) => label),
      allowOther: way.allowOther,
      several: way.several,
    };
  const choices = way.kind === 'confirm' ? [YES_ANSWER, NO_ANSWER] : [];
  return { message, choices, allowOther: false, several: false };
}

/** The meaning of an answer for the call that waits for it. */
export type AnswerMeaning =
  | { readonly reply: 'respond'; readonly output: JsonValue }
  | { readonly reply: 'restart'; readonly resumed: JsonObject }
  /** The call ends as denied. */
  | { readonly reply: 'deny' };

/** Reads what an answer means for its call; `answer` is as people gave it: the words of choices, the values of a form, or a report. */
export function meaningOf({ way, reply, before }: Ask, answer: JsonValue): AnswerMeaning {
  const value = readAnswer(way, answer, reply);
  if (value === undefined) return { reply: 'deny' };
  if (reply === 'respond') return { reply, output: value };
  return { reply, resumed: { ...before, ...(isJsonObject(value) ? value : { result: value }) } };
}

function readAnswer(way: Way, answer: JsonValue, reply: Ask['reply']): JsonValue | undefined {
  switch (way.kind) {
    case 'confirm':
      return answer === YES_ANSWER ? way.value : undefined;
    case 'choice': {
      const one = (words: JsonValue): JsonValue => {
        const chosen = way.choices.find(({ label }) => label === words);
        return chosen?.value ?? (reply === 'respond' ? words : { [CHOICE]: words });
      };
      return Array.isArray(answer) ? answer.map(one) : one(answer);
    }
    case 'form':
      return onlyNamed(way.schema, answer);
    case 'callback':
      // A report is whatever another system sends, so nothing of it can stand for an answer that was not asked.
      return way.schema === undefined || reply === 'respond'
        ? wrapped(answer, reply)
        : onlyNamed(way.schema, answer);
  }
}

function wrapped(answer: JsonValue, reply: Ask['reply']): JsonValue {
  return reply === 'respond' ? answer : { result: answer };
}

/** Leaves out what the schema of an object does not name. */
function onlyNamed({ properties }: JsonObject, answer: JsonValue): JsonValue {
  if (!isJsonObject(properties) || !isJsonObject(answer)) return answer;
  return Object.fromEntries(Object.entries(answer).filter(([name]) => Object.hasOwn(properties, name)));
}

const OwnAnswer = z.object({ ask: Ask, answer: Json, by: z.array(z.string()) });
/** An answer to a tool that asked in the middle of an approved call, and the people who gave it. */
export type OwnAnswer = Readonly<z.infer<typeof OwnAnswer>>;

/** The metadata key of a restart with such an answer, and of the pause for its approval. */
export const OWN_ANSWER = 'given';

/** Returns the answer that waits for approval before its tool gets it; `undefined` for every other pause. */
export function ownAnswerOf(interrupt: Pick<Interrupt, 'metadata'>): OwnAnswer | undefined {
  return ownAnswerIn(interrupt.metadata);
}

/** Reads such an answer from the metadata of a restart. */
export function ownAnswerIn(metadata: JsonObject | undefined): OwnAnswer | undefined {
  return OwnAnswer.safeParse(metadata?.[OWN_ANSWER]).data;
}

/** Returns what a tool is resumed with, with who answered and when. */
export function resumedWith(resumed: JsonObject, by: string, at: Date): JsonObject {
  return { ...resumed, by, at: at.toISOString() };
}
