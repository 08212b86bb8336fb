import type { ModelReply, ReplyFunction } from '../model/model-reply.ts';
import { type Conversation, type Exchange, readConversation } from './read-conversation.ts';
import { type Move, type Scene, say } from './rule.ts';
import { SCENES, SHOWN_SCENES } from './rules.ts';

/** Between two pieces of a sentence, so that one can watch it being written. */
const BETWEEN_WORDS_MS = 40;
const BETWEEN_ARGUMENTS_MS = 5;
const WORDS_IN_A_PIECE = 2;

/** A model without any intelligence: the first scene that takes the last words of a person says what comes next. */
export const answerByScript: ReplyFunction = (request) => toReply(nextMove(readConversation(request)));

function nextMove(conversation: Conversation): Move {
  const { exchanges, tools } = conversation;
  const [earlier, current] = [exchanges.at(-2), exchanges.at(-1)];
  if (current === undefined) return sayWhatIUnderstand();
  const move = play(current, conversation);
  const missing = move.kind === 'call' ? move.calls.find(({ name }) => !tools.includes(name)) : undefined;
  if (missing !== undefined)
    return say(
      `That would take the tool \`${missing.name}\`, which I do not have here, so nothing was done.`,
    );
  if (current.steps.length > 0) return move;
  const before = [tellEarlier(earlier, conversation), tellLeftOut(current)].filter((text) => text !== '');
  return { ...move, text: [...before, move.text].join('\n\n') };
}

function play({ said, steps }: Exchange, { system }: Conversation): Move {
  const words = said.at(-1) ?? '';
  const scene = sceneFor(words);
  if (scene === undefined) return sayWhatIUnderstand();
  return scene.play({ words, steps, ruleFor: (tool) => ruleFor(tool, system) });
}

function sceneFor(words: string): Scene | undefined {
  return SCENES.find(({ takes }) => takes.some((pattern) => pattern.test(words)));
}

/** What came out of the earlier words, where somebody spoke before the model could tell. */
function tellEarlier(earlier: Exchange | undefined, conversation: Conversation): string {
  const last = earlier?.steps.at(-1);
  // With complete_task the bot itself has told the result.
  if (earlier === undefined || earlier.isTold || last === undefined || last.tool === 'complete_task')
    return '';
  const move = play(earlier, conversation);
  return move.kind === 'say'
    ? move.text
    : `I leave “${earlier.said.at(-1)}” where it is; say it again if you still want it.`;
}

function tellLeftOut({ said }: Exchange): string {
  return said.length > 1 ? 'I take one message at a time, and of these the last.' : '';
}

/** The bot tells its model which tools have to be signed, a line for each; ids of people mean nothing to a reader. */
function ruleFor(tool: string, system: string): string {
  const line = system.split('\n').find((candidate) => candidate.startsWith(`- ${tool}: `));
  if (line === undefined) return '';
  const rule = line.slice(`- ${tool}: `.length).replace(/ \([A-Z0-9]+(?:, [A-Z0-9]+)*\)/g, '');
  return `By the rules here \`${tool}\` ${rule}.`;
}

function sayWhatIUnderstand(): Move {
  const examples = SHOWN_SCENES.map(({ example }) => `- ${example}`).join('\n');
  return say(
    `I am a scripted model with fixed rules, not an AI, and have no rule for that. This is what I understand, in these words or similar ones:\n${examples}\n\n` +
      'To talk to a real model instead, set OPENAI_API_KEY and start the playground again.',
  );
}

function toReply(move: Move): ModelReply {
  const text = inPieces(move.text);
  if (move.kind === 'say') return { text, delayMs: BETWEEN_WORDS_MS };
  const delayMs = text.length === 0 ? BETWEEN_ARGUMENTS_MS : BETWEEN_WORDS_MS;
  return { ...(text.length > 0 && { text }), calls: move.calls, delayMs };
}

function inPieces(text: string): readonly string[] {
  const words = text.match(/\s*\S+\s*/g) ?? [];
  return words.flatMap((_, index) =>
    index % WORDS_IN_A_PIECE === 0 ? [words.slice(index, index + WORDS_IN_A_PIECE).join('')] : [],
  );
}
