import type { Logger } from 'pino';
import type { Model } from '../agent/model.ts';
import type { ExporterOptions } from '../audit/exporter.ts';
import type { SigningKey } from '../audit/signing-key.ts';
import type { Timing } from '../bot/context.ts';
import type { Metrics } from '../observe/metrics.ts';
import type { Settings } from '../settings.ts';
import type { ManifestRecord } from '../store/documents/manifest.ts';
import type { QueueOptions } from '../store/queue/queue.ts';
import type { RedisClient } from '../store/redis/run-script.ts';
import type { Manifest } from '../tools/manifest/manifest.ts';
import type { Secrets } from '../tools/secrets.ts';
import type { LockText } from '../tools/toolbox/open-toolbox.ts';
import type { CodeTools } from '../tools/toolbox/tool-source.ts';

/** The bot in one Slack workspace: its app there, its manifest, and its keys in Redis. */
export interface Installation {
  readonly slack: Settings['slack'];
  /** The prefix of all its keys in Redis. */
  readonly prefix: string;
  readonly manifest: Manifest;
  /** The folder that the manifest's paths start from. */
  readonly folder: string;
  /** The tools of a program, beside those of the manifest. */
  readonly code?: CodeTools | undefined;
  /** Answers in place of the manifest's models. */
  readonly model?: Model | undefined;
  /** Holds changed manifests back until they are approved; without it the given manifest is used as it is. */
  readonly policyChanges?: PolicyChangeSetup | undefined;
}

/** Wires the approval of changed policies. */
export interface PolicyChangeSetup {
  /** Chooses the manifest to start with, by the record. */
  choose(record: ManifestRecord): Promise<{ readonly manifest: Manifest; readonly lock: LockText }>;
  /** Called when a change was approved in this process. */
  onApproved(): void;
}

/** The settings of a process, and times that tests make shorter. */
export interface ProcessSetup {
  readonly settings: Settings;
  readonly secrets: Secrets;
  readonly logger: Logger;
  readonly timing?: Partial<Timing>;
  /** The timing of the sweep, which finds due work that was not woken. */
  readonly sweep?: QueueOptions['sweep'];
  /** The timing of the export and the signatures of the audit log. */
  readonly audit?: Pick<ExporterOptions, 'everyMs' | 'checkpointEveryMs' | 'leaseMs'>;
  /** The time that an MCP client without tasks is kept waiting for people. */
  readonly mcpWaitMs?: number;
  /** The time for which a message to a caller's webhook is tried. */
  readonly webhookGiveUpMs?: number;
  /** Puts the text of messages, arguments and results on the spans of traces. */
  readonly captureContent?: boolean;
}

/** The parts of a process that its workspaces share. */
export interface BotProcess extends ProcessSetup {
  readonly redis: RedisClient;
  readonly metrics: Metrics;
  readonly auditKey: SigningKey | undefined;
}
