import type { BrokenManifest } from './broken-manifest.ts';

/** Mistakes in HTTP calls. */
export const brokenHttp: readonly BrokenManifest[] = [
  {
    says: 'a call without description',
    text: `tools:
  ping:
    http: { method: GET, url: "https://example.com/ping" }
`,
    rest: 'slack and default policy',
    problems: ['2:3: tools.ping: "description" is missing: the model must know what the call does'],
  },
  {
    says: 'a call without method',
    text: `tools:
  ping:
    description: Pings.
    http: { url: "https://example.com/ping" }
`,
    rest: 'slack and default policy',
    problems: ['4:5: tools.ping.http: "method" is missing'],
  },
  {
    says: 'a method in small letters',
    text: `tools:
  ping:
    description: Pings.
    http: { method: get, url: "https://example.com/ping" }
`,
    rest: 'slack and default policy',
    problems: [
      '4:21: tools.ping.http.method: "get" is not one of GET, POST, PUT, PATCH, DELETE; did you mean "GET"?',
    ],
  },
  {
    says: 'another scheme',
    text: `tools:
  ping:
    description: Pings.
    http: { method: GET, url: "ftp://example.com" }
`,
    rest: 'slack and default policy',
    problems: [
      '4:31: tools.ping.http.url: "ftp://example.com" is not a URL that begins with https:// or http://, or a path such as /orders below http_defaults.base_url',
    ],
  },
  {
    says: 'a placeholder without input',
    text: `tools:
  ping:
    description: Pings.
    http: { method: GET, url: "https://example.com/{{input.id}}" }
`,
    rest: 'slack and default policy',
    problems: ['4:31: tools.ping.http.url: {{input.id}} names no property of the input schema'],
  },
  {
    says: 'a placeholder in the body that names no input',
    text: `tools:
  ping:
    description: Pings.
    input: { type: object, properties: { title: { type: string } } }
    http:
      method: POST
      url: https://example.com/ping
      body:
        list:
          - "{{input.titel}}"
`,
    rest: 'slack and default policy',
    problems: ['10:13: tools.ping.http.body.list[0]: {{input.titel}} names no property of the input schema'],
  },
  {
    says: 'a placeholder in a header that names no input',
    text: `tools:
  ping:
    description: Pings.
    http:
      method: GET
      url: https://example.com/ping
      headers: { x-id: "{{input.id}}" }
`,
    rest: 'slack and default policy',
    problems: ['7:24: tools.ping.http.headers.x-id: {{input.id}} names no property of the input schema'],
  },
  {
    says: 'a placeholder of another form',
    text: `tools:
  ping:
    description: Pings.
    http: { method: GET, url: "https://example.com/ping", query: { q: "{{id}}" } }
`,
    rest: 'slack and default policy',
    problems: [
      '4:71: tools.ping.http.query.q: "{{id}}" is not a placeholder; write {{input.name}}, or {{input.name.inner}} for what lies inside it',
    ],
  },
  {
    says: 'a placeholder in the host',
    text: `tools:
  ping:
    description: Pings.
    input: { type: object, properties: { host: { type: string } }, required: [host] }
    http: { method: GET, url: "https://{{input.host}}/ping" }
`,
    rest: 'slack and default policy',
    problems: [
      '5:31: tools.ping.http.url: this URL cannot be used: its scheme, host and port may hold no placeholder',
    ],
  },
  {
    says: 'a body in a GET',
    text: `tools:
  ping:
    description: Pings.
    http: { method: GET, url: "https://example.com/ping", body: { a: 1 } }
`,
    rest: 'slack and default policy',
    problems: ['4:65: tools.ping.http.body: a GET has no body; use "query", or another method'],
  },
  {
    says: 'a header name with a blank',
    text: `tools:
  ping:
    description: Pings.
    http: { method: GET, url: "https://example.com/ping", headers: { "x id": a } }
`,
    rest: 'slack and default policy',
    problems: ['4:70: tools.ping.http.headers.x id: "x id" is not the name of a header'],
  },
  {
    says: 'an input of a type nobody knows',
    text: `tools:
  ping:
    description: Pings.
    input:
      type: object
      properties:
        id: { type: strng }
    http: { method: GET, url: "https://example.com/ping" }
`,
    rest: 'slack and default policy',
    problems: [
      '7:21: tools.ping.input.properties.id.type: this is not a valid JSON Schema: must be equal to one of the allowed values (array, boolean, integer, null, number, object, string)',
    ],
  },
  {
    says: 'an input that is no object',
    text: `tools:
  ping:
    description: Pings.
    input: { type: string }
    http: { method: GET, url: "https://example.com/ping" }
`,
    rest: 'slack and default policy',
    problems: [
      '4:12: tools.ping.input: the input of a tool is an object; write "type: object" and its properties',
    ],
  },
  {
    says: 'an input that refers to nothing',
    text: `tools:
  ping:
    description: Pings.
    input: { type: object, properties: { id: { $ref: "#/nowhere" } } }
    http: { method: GET, url: "https://example.com/ping" }
`,
    rest: 'slack and default policy',
    problems: [
      `4:12: tools.ping.input: this JSON Schema cannot be used: can't resolve reference #/nowhere from id #`,
    ],
  },
  {
    says: 'a secret in the description',
    text: `tools:
  ping:
    description: Pings with \${API_KEY}.
    http: { method: GET, url: "https://example.com/ping" }
`,
    rest: 'slack and default policy',
    problems: [
      `3:29: tools.ping.description: \${API_KEY} cannot be used here, where the model or people read it; only connections take secrets`,
    ],
  },
  {
    says: 'secrets in the words of cards',
    text: `tools:
  ping:
    description: Pings.
    http: { method: GET, url: "https://example.com/\${API_KEY}" }
    title: \${API_KEY}
    done: \${API_KEY}
    target: \${API_KEY}
    fields: { Key: "\${API_KEY}" }
    preview: { tool: ping, before: "\${API_KEY}", after: "1" }
    undo: { tool: ping, input: { key: "\${API_KEY}" } }
    cards: [{ match: p*, title: "\${API_KEY}" }]
`,
    rest: 'slack and default policy',
    problems: [
      `5:12: tools.ping.title: \${API_KEY} cannot be used here, where the model or people read it; only connections take secrets`,
      `6:11: tools.ping.done: \${API_KEY} cannot be used here, where the model or people read it; only connections take secrets`,
      `7:13: tools.ping.target: \${API_KEY} cannot be used here, where the model or people read it; only connections take secrets`,
      `8:21: tools.ping.fields.Key: \${API_KEY} cannot be used here, where the model or people read it; only connections take secrets`,
      `9:37: tools.ping.preview.before: \${API_KEY} cannot be used here, where the model or people read it; only connections take secrets`,
      `10:40: tools.ping.undo.input.key: \${API_KEY} cannot be used here, where the model or people read it; only connections take secrets`,
      `11:34: tools.ping.cards[0].title: \${API_KEY} cannot be used here, where the model or people read it; only connections take secrets`,
    ],
  },
  {
    says: 'attempts of a call that is not idempotent',
    text: `tools:
  ping:
    description: Pings.
    http: { method: POST, url: "https://example.com/ping" }
    max_attempts: 3
`,
    rest: 'slack and default policy',
    problems: [
      '5:5: tools.ping.max_attempts: only an idempotent action is tried again; add "effect: idempotent" if it is one',
    ],
  },
  {
    says: 'a host that is a URL',
    text: `tools:
  ping:
    description: Pings.
    http: { method: GET, url: "https://example.com/ping", allow_private: ["http://intranet/"] }
`,
    rest: 'slack and default policy',
    problems: [
      '4:75: tools.ping.http.allow_private[0]: "http://intranet/" is not a host name, with ":port" where only one port is meant',
    ],
  },
];
