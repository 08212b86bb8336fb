// Without an import of the client, so that users of the library need not install it for its types.

export type Api = 'responses' | 'chat';

export type Fetch = typeof globalThis.fetch;

export interface ClientOptions {
  readonly apiKey: string;
  readonly baseURL?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly query?: Readonly<Record<string, string>> | undefined;
  /** How long the model may send nothing, before or within its answer; two minutes by default. */
  readonly silenceMs?: number | undefined;
  /** Replaces the built-in `fetch`, for example to use a proxy. */
  readonly fetch?: Fetch | undefined;
}
