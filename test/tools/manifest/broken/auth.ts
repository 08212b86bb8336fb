import type { BrokenManifest } from './broken-manifest.ts';

function server(auth: string, more = ''): string {
  return `tools:\n  docs:\n    mcp:\n      url: https://mcp.example.com\n${more}      auth: ${auth}\n`;
}

/** Mistakes in `auth` of an MCP server. */
export const brokenAuth: readonly BrokenManifest[] = [
  {
    says: 'auth for a command',
    text: `tools:\n  docs:\n    mcp:\n      command: node\n      auth: { as: bot, token: "\${API_KEY}" }\n`,
    rest: 'slack and default policy',
    problems: ['5:7: tools.docs.mcp.auth: "auth" is only for a server with a url'],
  },
  {
    says: 'an identity without a credential',
    text: server('{ as: bot }'),
    rest: 'slack and default policy',
    problems: [
      '5:7: tools.docs.mcp.auth: "as: bot" needs a token, or a client_id with a client_secret or a private_key',
    ],
  },
  {
    says: 'a header beside auth',
    text: server(
      `{ as: bot, token: "\${API_KEY}" }`,
      `      headers: { Authorization: "Bearer \${API_KEY}" }\n`,
    ),
    rest: 'slack and default policy',
    problems: ['6:7: tools.docs.mcp.auth: a server has an Authorization header or "auth", not both'],
  },
  {
    says: 'a client whose issuer is not named',
    text: server(`{ as: bot, client_id: shop, client_secret: "\${API_KEY}" }`),
    rest: 'slack and default policy',
    problems: [
      '5:7: tools.docs.mcp.auth: a client_id needs the issuer that knows it, so that no other server gets its credentials',
    ],
  },
  {
    says: 'a secret and a key',
    text: server(
      `{ as: bot, client_id: shop, issuer: "https://login.example", client_secret: "\${API_KEY}", private_key: "\${API_KEY}" }`,
    ),
    rest: 'slack and default policy',
    problems: [
      '5:103: tools.docs.mcp.auth.private_key: a client has a client_secret or a private_key, not both',
    ],
  },
  {
    says: 'a token beside a client',
    text: server(`{ as: bot, token: "\${API_KEY}", scope: read }`),
    rest: 'slack and default policy',
    problems: [`5:45: tools.docs.mcp.auth.scope: "scope" can't be combined with "token"; remove one of them`],
  },
  {
    says: 'an algorithm without a key',
    text: server(
      `{ as: bot, client_id: shop, issuer: "https://login.example", client_secret: "\${API_KEY}", algorithm: ES256 }`,
    ),
    rest: 'slack and default policy',
    problems: ['5:103: tools.docs.mcp.auth.algorithm: "algorithm" is only for a private_key'],
  },
  {
    says: 'a token for requesters',
    text: server(`{ as: requester, token: "\${API_KEY}" }`),
    rest: 'slack and default policy',
    problems: [
      '5:30: tools.docs.mcp.auth.token: a token is only for the bot; people connect their own accounts',
    ],
  },
];
