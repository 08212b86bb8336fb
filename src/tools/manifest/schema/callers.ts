import { z } from 'zod';
import { Pattern } from './policies.ts';
import { Channel, Count, distinct, HostName, Name, Person, Text, texts, WebAddress } from './values.ts';

/** 32 random bytes take 43 characters. A variable that is not set stays as it is written where secrets may be missing. */
const KEY = /^(?:[A-Za-z0-9_-]{43,200}|\$\{[A-Za-z_][A-Za-z0-9_]*\})$/;

/** `whsec_` and 24 to 64 bytes in Base64, as Standard Webhooks has it. */
const WEBHOOK_SECRET = /^(?:whsec_[A-Za-z0-9+/]{32,86}={0,2}|\$\{[A-Za-z_][A-Za-z0-9_]*\})$/;

const WebhookFile = z
  .strictObject({
    url: WebAddress.describe('The https address that gets the messages.'),
    secret: z
      .string()
      .regex(WEBHOOK_SECRET)
      .meta({ title: 'whsec_ and 24 to 64 random bytes in Base64' })
      .describe('Signs the messages; from the environment.'),
    allow_private: distinct(
      HostName,
      'Hosts that may be reached although their address is private.',
    ).optional(),
  })
  .describe('Told by Standard Webhooks when a request waits, is approved or has ended.');

const IdentityFile = z
  .strictObject({
    key: z
      .string()
      .regex(KEY)
      .meta({ title: 'a key of at least 32 random bytes; "countersign caller key" makes one' })
      .optional()
      .describe('A secret from the environment, which the caller sends as a bearer token.'),
    oidc: z
      .strictObject({
        issuer: WebAddress.describe('Who signs its tokens: https://token.actions.githubusercontent.com.'),
        audience: Text.describe('The audience that its tokens must be for.'),
        claims: texts(
          /^[A-Za-z0-9_:./-]{1,100}$/,
          'the name of a claim',
          'The claims that its tokens must have, each with this value; one of them must say whose token it is, such as repository or sub.',
        ),
      })
      .optional()
      .describe('Tokens of an OpenID Connect issuer, such as those of a CI job.'),
  })
  .describe('How the caller proves who it is: "key" or "oidc".');

const OnBehalfOfFile = z
  .strictObject({
    issuer: WebAddress.describe(
      'Who signs the tokens of people: https://slack.com, or your identity provider.',
    ),
    audience: Text.describe('The audience that their tokens must be for.'),
  })
  .describe('Lets it ask for a person who gives it a token of theirs; they count as requester too.');

export const CallerFile = z
  .strictObject({
    owner: Person.describe('Who answers for it. The owner counts as requester, so cannot approve.'),
    identity: IdentityFile,
    channel: Channel.describe('Where its cards are posted.'),
    tools: distinct(Pattern, 'Which tools it may call, such as "deploy_*".').optional(),
    ask: distinct(Name, 'Under which policies it may ask about something that it runs itself.').optional(),
    limits: z
      .strictObject({
        pending: Count.optional().describe('The most requests that wait for people at a time (default: 10).'),
        per_hour: Count.optional().describe('The most requests in an hour (default: 60).'),
      })
      .optional()
      .describe('How much it may ask for; beyond that it gets 429.'),
    links: distinct(HostName, 'The hosts of https links that its cards may show.').optional(),
    on_behalf_of: OnBehalfOfFile.optional(),
    webhook: WebhookFile.optional(),
  })
  .describe('An agent, a CI job or a script that may ask through the door.');
export type CallerFile = z.output<typeof CallerFile>;
