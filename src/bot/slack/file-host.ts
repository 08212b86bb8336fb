import type { WebClient } from '@slack/web-api';
import type { Logger } from 'pino';
import { z } from 'zod';
import { describeError } from '../../agent/errors.ts';
import type { AttachedFile, FileBytes } from '../../engine/ports.ts';
import { judgeSlackFailure } from './slack-failure.ts';

interface DownloadLimits {
  readonly maxBytes: number;
  readonly timeoutMs: number;
}

interface FileHostOptions {
  readonly client: WebClient;
  readonly botToken: string;
  /** The address of another Slack than Slack's own; its files are at the same origin. */
  readonly apiUrl: string | undefined;
  readonly fetch: typeof fetch;
  readonly logger: Logger;
}

/** The hosts that Slack keeps files at. The token is sent to no other. */
const FILE_HOSTS = ['files.slack.com', 'files.slack-gov.com'];
const MAX_REDIRECTS = 3;
/** Well within the claim of a sender. */
const UPLOAD_MS = 15_000;

/** Downloads files of messages with the bot's token, never more than the limits allow, and uploads files of tools. */
export class FileHost {
  readonly #options: FileHostOptions;

  constructor(options: FileHostOptions) {
    this.#options = options;
  }

  /** Asks Slack about a file that came without its name and address, as those of other organisations do. */
  async describe(file: AttachedFile): Promise<AttachedFile> {
    if (file.url !== undefined || file.absent !== undefined) return file;
    return this.#options.client.files.info({ file: file.id }).then(
      (found) => readSlackFile(found.file) ?? file,
      // Reading it says why.
      () => file,
    );
  }

  async read(file: AttachedFile, limits: DownloadLimits, signal: AbortSignal): Promise<FileBytes> {
    const { logger } = this.#options;
    if (file.absent !== undefined) return { outcome: file.absent };
    const timeout = AbortSignal.timeout(limits.timeoutMs);
    try {
      const url = file.url ?? (await this.#findUrl(file.id));
      if (typeof url !== 'string') return url;
      return await this.#download(url, limits.maxBytes, AbortSignal.any([signal, timeout]));
    } catch (error) {
      const outcome = timeout.aborted ? 'too-slow' : 'unreachable';
      logger.warn({ file: file.id, outcome, reason: describeError(error) }, 'file not downloaded');
      return { outcome };
    }
  }

  /** Sends the bytes of an upload to the address that Slack gave for it. */
  async upload(address: string, bytes: Uint8Array): Promise<void> {
    const url = new URL(address);
    if (!this.#isFileHost(url)) throw new Error(`${url.host} is no host of Slack's files`);
    const response = await this.#options.fetch(url, {
      method: 'POST',
      body: new Uint8Array(bytes),
      headers: { 'content-type': 'application/octet-stream' },
      redirect: 'error',
      signal: AbortSignal.timeout(UPLOAD_MS),
    });
    await response.body?.cancel();
    if (response.status !== 200) throw new Error(`Slack answered an upload with ${response.status}`);
  }

  /** Asks Slack for the address of a file; messages from other organisations come without it. */
  async #findUrl(id: string): Promise<string | FileBytes> {
    try {
      const found = readSlackFile((await this.#options.client.files.info({ file: id })).file);
      if (found?.absent !== undefined) return { outcome: found.absent };
      return found?.url ?? { outcome: 'refused' };
    } catch (error) {
      const failure = judgeSlackFailure(error);
      if (failure.kind === 'later') throw error;
      this.#options.logger.warn({ file: id, reason: failure.reason }, 'file not found in Slack');
      return { outcome: /deleted|not_found/.test(failure.reason) ? 'deleted' : 'refused' };
    }
  }

  async #download(address: string, maxBytes: number, signal: AbortSignal): Promise<FileBytes> {
    let url = new URL(address);
    for (let hops = 0; hops <= MAX_REDIRECTS; hops += 1) {
      if (!this.#isFileHost(url)) return this.#refuse(`${url.host} is no host of Slack's files`);
      const response = await this.#options.fetch(url, {
        headers: { authorization: `Bearer ${this.#options.botToken}` },
        redirect: 'manual',
        signal,
      });
      const location = response.headers.get('location');
      if (response.status >= 300 && response.status < 400 && location !== null) {
        await response.body?.cancel();
        url = new URL(location, url);
        continue;
      }
      return this.#readBody(response, maxBytes, url);
    }
    return this.#refuse('too many redirects');
  }

  async #readBody(response: Response, maxBytes: number, { pathname }: URL): Promise<FileBytes> {
    const { status, headers, body } = response;
    const isPage = (headers.get('content-type') ?? '').startsWith('text/html') && !/\.html?$/i.test(pathname);
    if (status !== 200 || isPage) {
      await body?.cancel();
      if (status === 404 || status === 410) return { outcome: 'deleted' };
      if (status >= 500 || status === 429) return { outcome: 'unreachable' };
      return this.#refuse(isPage ? 'Slack answered with a page; is files:read missing?' : `status ${status}`);
    }
    const chunks: Uint8Array[] = [];
    let size = 0;
    // The size that was announced counts for nothing: reading ends at the limit.
    for await (const chunk of body ?? []) {
      size += chunk.byteLength;
      if (size > maxBytes) return { outcome: 'too-large' };
      chunks.push(chunk);
    }
    return { outcome: 'read', bytes: Buffer.concat(chunks) };
  }

  #isFileHost({ protocol, hostname, origin }: URL): boolean {
    const { apiUrl } = this.#options;
    if (apiUrl !== undefined && origin === new URL(apiUrl).origin) return true;
    return protocol === 'https:' && FILE_HOSTS.includes(hostname);
  }

  #refuse(reason: string): FileBytes {
    this.#options.logger.warn({ reason }, 'file not downloaded');
    return { outcome: 'refused' };
  }
}

const Announced = z.object({
  id: z.string(),
  name: z.string().nullish().catch(undefined),
  size: z.number().nonnegative().optional().catch(undefined),
  url_private: z.string().optional().catch(undefined),
  mode: z.string().optional().catch(undefined),
  is_external: z.boolean().optional().catch(undefined),
});

/** The longest list that is looked at; Slack sends at most ten files with a message. */
const MAX_FILES = 20;

/** Reads the files of a message as Slack sends it; one that cannot be read is left out. */
export function readSlackFiles(files: unknown): readonly AttachedFile[] {
  if (!Array.isArray(files)) return [];
  return files.slice(0, MAX_FILES).flatMap((file: unknown) => readSlackFile(file) ?? []);
}

/** Reads one file as Slack describes it. A file of another organisation comes without its address. */
function readSlackFile(file: unknown): AttachedFile | undefined {
  const { data } = Announced.safeParse(file);
  if (data === undefined) return undefined;
  const { id, name, size, url_private: url, mode, is_external: isExternal } = data;
  const isGone = mode === 'tombstone' || mode === 'hidden_by_limit';
  return {
    id,
    name: name ?? 'file',
    ...(size !== undefined && { size }),
    ...(url !== undefined && { url }),
    ...(isGone && { absent: 'deleted' as const }),
    ...(isExternal === true && { absent: 'external' as const }),
  };
}
