import { z } from 'zod';
import { ConfirmFile } from './policies.ts';
import {
  Bot,
  Channel,
  Count,
  Duration,
  distinct,
  Group,
  Headers,
  Person,
  PersonOrGroup,
  Size,
  Text,
  TimeZone,
  texts,
} from './values.ts';

export const BUILT_IN_NAMES = ['ask_question', 'request_form', 'wait_for_callback', 'complete_task'] as const;

const OnlyRequester = z.enum(['requester']).optional().describe('Only the requester may answer.');

const BuiltInsFile = distinct(
  z.union([
    z.enum(BUILT_IN_NAMES),
    z.strictObject({ ask_question: OnlyRequester, request_form: OnlyRequester }),
  ]),
  'The ways in which the agent may ask people (default: all four); "ask_question: requester" lets only the requester answer.',
);
export type BuiltInsFile = z.output<typeof BuiltInsFile>;

const ContextMode = z.enum(['thread', 'mention']);

export const ChannelFile = z
  .strictObject({
    context: ContextMode.optional().describe('What the agent reads of threads here.'),
    instructions: Text.optional().describe(
      'What the agent is told here, after the instructions for all channels.',
    ),
    tools: distinct(
      Text,
      'The tools that may be used here, by name or pattern such as "get_*" (default: all).',
    ).optional(),
    model: Text.optional().describe('The model to use here.'),
    topic: z
      .boolean()
      .optional()
      .describe(
        "Whether the agent reads the channel's topic, as quoted context (default: false). Needs the scope channels:read.",
      ),
  })
  .describe('The settings of one channel.');
export type ChannelFile = z.output<typeof ChannelFile>;

export const FILE_KINDS = ['image', 'text', 'pdf'] as const;

const FilesFile = z
  .union([
    z.boolean(),
    z.strictObject({
      max_size: Size.optional().describe('The largest file that is read or sent (default: 10MB).'),
      max_count: Count.max(20).optional().describe('How many files one turn reads (default: 5).'),
      types: distinct(
        z.enum(FILE_KINDS),
        'What is read, judged by the content (default: all of them).',
      ).optional(),
    }),
  ])
  .describe(
    'Whether files that people attach are read, and files of tools are sent (default: true). Needs the scopes files:read and files:write.',
  );
export type FilesFile = z.output<typeof FilesFile>;

export const ModelFile = z
  .strictObject({
    name: Text.optional().describe('The model to use (default: OPENAI_MODEL).'),
    fallbacks: distinct(
      Text,
      'Models to ask in this order when the one before is down, retired or rate limited.',
    ).optional(),
    api: z
      .enum(['auto', 'responses', 'chat'])
      .optional()
      .describe(
        'The API of the model: auto (the default) is Responses at OpenAI and Azure, and Chat Completions elsewhere.',
      ),
    reasoning_effort: z
      .enum(['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'])
      .optional()
      .describe("How much the model thinks before it answers (default: the model's own)."),
    verbosity: z.enum(['low', 'medium', 'high']).optional().describe('How long answers are.'),
    temperature: z.number().min(0).max(2).optional().describe('Most reasoning models refuse it.'),
    max_output_tokens: Count.min(16).optional().describe('The longest answer, reasoning included.'),
    parallel_tool_calls: z.boolean().optional().describe('Whether the model may call several tools at once.'),
    service_tier: z
      .enum(['auto', 'default', 'flex', 'scale', 'priority'])
      .optional()
      .describe('The tier at the provider.'),
    headers: Headers.optional(),
    query: texts(/^\S+$/, 'the name of a parameter', 'Query parameters of every model request.').optional(),
    timeout: Duration.optional().describe(
      'How long the model may send nothing before the request is given up (default: MODEL_SILENCE_SECONDS).',
    ),
    budgets: z
      .strictObject({
        per_turn: Count.optional().describe('For one task, from a message to its answer.'),
        per_thread: Count.optional().describe('For one thread in a day.'),
        per_person: Count.optional().describe('For what one person asks for in a day.'),
        per_day: Count.optional().describe('For the whole bot in a day.'),
      })
      .optional()
      .describe('The most tokens to spend; a day is one in UTC. Without one there is no limit.'),
    context_budget: Count.optional().describe(
      "How many tokens of history the model gets at most, estimated at three bytes each (default: the model's known window).",
    ),
  })
  .describe('The model, how it is asked, and how much it may cost.');
export type ModelFile = z.output<typeof ModelFile>;

export const AgentFile = z
  .strictObject({
    model: z
      .union([Text, ModelFile])
      .optional()
      .describe('The model: its name, or { name } with more (default: OPENAI_MODEL).'),
    instructions: Text.optional().describe('What the agent is told before every task.'),
    time_zone: TimeZone.optional().describe('The time zone of "now" in conditions (default: UTC).'),
    max_steps: Count.max(1000)
      .optional()
      .describe('How often the model may be called for one task (default: 20).'),
    context: ContextMode.optional().describe(
      'What the agent reads when it is mentioned in a thread: thread (the default: all of it since it last did, as quoted context) or mention (the message alone).',
    ),
    files: FilesFile.optional(),
    channels: z
      .record(Channel, ChannelFile)
      .optional()
      .describe('Settings of single channels, by id, in place of those of the agent.'),
    plans: z
      .union([
        z.boolean(),
        z.strictObject({
          collect: z
            .boolean()
            .optional()
            .describe(
              'Whether calls of one answer that need approval become a plan by themselves (default: false).',
            ),
        }),
      ])
      .optional()
      .describe('Whether the agent may ask once for several calls (default: true).'),
    feedback: z
      .boolean()
      .optional()
      .describe('Whether final answers have feedback buttons (default: false).'),
    limits: z
      .strictObject({
        pending_per_thread: Count.optional().describe('Per thread (default: 10).'),
        pending_per_person: Count.optional().describe('Per requester, over all threads (default: 25).'),
      })
      .optional()
      .describe('How many requests may wait for people at a time; further ones are not asked.'),
    askers: z
      .strictObject({
        members: z
          .boolean()
          .optional()
          .describe(
            'Whether all full members of the workspace may ask; false leaves only those whom the lists here name (default: true).',
          ),
        people: distinct(Person, 'Guests and people of other organisations who may ask.').optional(),
        groups: distinct(Group, 'User groups whose members may ask.').optional(),
        channels: distinct(
          Channel,
          'Channels in which guests and people of other organisations may ask.',
        ).optional(),
        guests: z.boolean().optional().describe('Whether all guests may ask (default: false).'),
        external: z
          .boolean()
          .optional()
          .describe('Whether all people of other organisations may ask (default: false).'),
        bots: distinct(Bot, 'Other bots that may ask.').optional(),
      })
      .optional()
      .describe(
        'Who may ask beside the full members of the workspace (default: nobody), or instead of them.',
      ),
    admins: distinct(
      Person,
      'People notified about errors in a changed manifest, token budgets and model failures; they may also freeze actions.',
    ).optional(),
    cards: z
      .strictObject({
        buttons: z
          .enum(['thread', 'approvers'])
          .optional()
          .describe(
            'Where Approve and Reject are: thread (there and in direct messages, the default) or approvers (only in their direct messages; in the thread where nobody gets one).',
          ),
      })
      .optional()
      .describe('What the cards of requests look like.'),
    first_days: Count.max(366)
      .optional()
      .describe(
        'For how many days a call that succeeded keeps the next one from being a first one, in "first" of conditions (default: 90).',
      ),
    unfreeze: z
      .strictObject({
        approvers: distinct(PersonOrGroup, 'Ids of people and of user groups.').min(1),
        quorum: Count.optional().describe('How many of them must want it (default: 1).'),
      })
      .optional()
      .describe('Who may end a "/countersign freeze" (default: one of the admins).'),
    policy_changes: z
      .strictObject({
        approvers: distinct(PersonOrGroup, 'Who may approve a change.').min(1),
        quorum: Count.optional().describe('How many of them must approve (default: 1).'),
        confirm: ConfirmFile.optional().describe(
          'Whether Approve asks for a confirmation (default: true). "passkey": approvers sign with their own passkey on the page.',
        ),
        channel: Channel.describe('The channel where the card is posted; the bot must be in it.'),
      })
      .optional()
      .describe(
        'Who must approve a change of the governed part of the manifest: who approves what, and when (default: nobody).',
      ),
    built_ins: BuiltInsFile.optional(),
  })
  .describe('The agent: its model, its instructions and its limits.');
export type AgentFile = z.output<typeof AgentFile>;
