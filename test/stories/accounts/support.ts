import { randomBytes } from 'node:crypto';
import { onTestFinished } from 'vitest';
import type { ModelReply } from '../../../playground/model/model-reply.ts';
import { findFreePort } from '../../../playground/redis/find-free-port.ts';
import type { BotSetup } from '../../../src/start-bot.ts';
import {
  CLIENT_ID,
  CLIENT_SECRET,
  type OAuthServerOptions,
  serveOAuth,
} from '../../tools/mcp/auth/fixtures/oauth-server.ts';
import { type ProtectedOptions, serveProtected } from '../../tools/mcp/auth/fixtures/protected-server.ts';
import { CAST, type StoryOptions, startStory } from '../support.ts';

export const KEY = randomBytes(32).toString('base64');

export interface AccountOptions extends Pick<StoryOptions, 'timing' | 'sweep' | 'slack'> {
  readonly replies: readonly ModelReply[];
  /** The rule of the server's tools; by default everyone's approval. */
  readonly approval?: string;
  readonly server?: Partial<ProtectedOptions>;
  /** The scope of `auth`, if an admin names one. */
  readonly scope?: string;
  /** Names no client in the manifest: the authorization server registers whoever asks. */
  readonly registers?: OAuthServerOptions['registers'];
  /** Adds to the policy, to the entry of the server, and to the manifest. */
  readonly more?: {
    readonly approvers?: string;
    readonly policy?: string;
    readonly entry?: string;
    readonly manifest?: string;
  };
}

/** Starts the product with an authorization server and an MCP server that wants the account of the requester; no bot runs yet. */
export async function startAccountStory(options: AccountOptions) {
  const port = await findFreePort();
  const publicUrl = `http://127.0.0.1:${port}`;
  const { registers } = options;
  const oauth = await serveOAuth({
    redirectUris: [`${publicUrl}/connect/return`],
    ...(registers !== undefined && { registers }),
  });
  onTestFinished(() => oauth.stop());
  const mcp = await serveProtected({ issuer: oauth.issuer, isListOpen: true, ...options.server });
  onTestFinished(() => mcp.stop());
  const { approval = '{ policy: default }', scope, more = {} } = options;
  const client =
    registers === undefined ? `, client_id: ${CLIENT_ID}, client_secret: "\${CLIENT_SECRET}"` : '';
  const manifest = `
slack: { display_information: { name: Countersign } }
agent: { instructions: Help. }
policies:
  default: { approvers: ${more.approvers ?? `[${CAST.alice}, ${CAST.bruno}]`}, notify: { direct_messages: false }, ${more.policy ?? ''} }
${more.manifest ?? ''}
tools:
  docs:
${more.entry ?? ''}
    approval: ${approval}
    mcp:
      url: ${mcp.url}
      allow_private: [127.0.0.1]
      auth: { as: requester, issuer: "${oauth.issuer}"${client}${scope === undefined ? '' : `, scope: "${scope}"`} }
`;
  const environment = { CLIENT_SECRET };
  const story = await startStory({
    ...options,
    manifest,
    environment,
    withoutBot: true,
  });
  const settings = { ...story.setup.settings, port, publicUrl, connectionsKey: KEY };
  const startBot = (changes: Partial<BotSetup> = {}) => story.startOwnBot({ settings, ...changes });

  /** Clicks Connect on the card, and gives the modal and its link. */
  const openModal = async (thread: ReturnType<typeof story.ask>, who: string = CAST.requester) => {
    await thread.click(who, /Needs an account/, 'connect');
    const modal = await story.modalFor(who, /Code from the page/);
    return { modal, link: linkIn(modal.blocks) };
  };
  /** Connects the account of a person as they would: the link in a browser, and the code in Slack. */
  const connect = async (
    thread: ReturnType<typeof story.ask>,
    login: string,
    who: string = CAST.requester,
  ) => {
    const { modal, link } = await openModal(thread, who);
    const { text } = await new Browser(login).visit(link);
    return story.workspace.as(who).submit(modal.id, { code: codeIn(text) });
  };
  return {
    ...story,
    setup: { ...story.setup, settings },
    manifest,
    environment,
    oauth,
    mcp,
    startBot,
    openModal,
    connect,
    publicUrl,
  };
}

/** Finds the link of a modal. */
export function linkIn(blocks: readonly unknown[]): string {
  return /"url":"([^"]+)"/.exec(JSON.stringify(blocks))?.[1] ?? '';
}

/** Finds the code that a page shows. */
export function codeIn(text: string): string {
  return /<code>([A-Z0-9]+)<\/code>/.exec(text)?.[1] ?? '';
}

/** A browser with cookies that follows redirects, of a person who is logged in at the authorization server. */
export class Browser {
  readonly #cookies = new Map<string, Map<string, string>>();
  readonly #login: string;

  constructor(login: string) {
    this.#login = login;
  }

  async visit(
    address: string,
  ): Promise<{ readonly status: number; readonly text: string; readonly url: string }> {
    let url = new URL(address);
    for (let hops = 0; hops < 20; hops += 1) {
      const jar = this.#cookies.get(url.host) ?? new Map([['login', this.#login]]);
      this.#cookies.set(url.host, jar);
      const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
      const response = await fetch(url, { redirect: 'manual', headers: { cookie } });
      for (const line of response.headers.getSetCookie()) {
        const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
        jar.set(name, value);
      }
      const location = response.headers.get('location');
      if (location === null) return { status: response.status, text: await response.text(), url: url.href };
      url = new URL(location, url);
    }
    throw new Error('too many redirects');
  }
}
