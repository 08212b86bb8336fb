/** One metric of `/metrics`: its kind, its meaning and its labels. Times are in seconds. */
export interface MetricSpec {
  readonly kind: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  readonly labels: readonly string[];
  readonly buckets?: readonly number[];
}

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const WAITS = [10, MINUTE, 5 * MINUTE, 15 * MINUTE, HOUR, 4 * HOUR, 12 * HOUR, 24 * HOUR, 72 * HOUR];
const RUNS = [0.1, 0.5, 1, 2.5, 5, 10, 30, MINUTE, 5 * MINUTE, 15 * MINUTE, HOUR];

/** Every metric that this program makes itself. Dashboards, alerts and docs name these and no others. */
export const METRICS = {
  countersign_request_transitions_total: {
    kind: 'counter',
    help: 'Steps in the life of requests, by the state that was entered.',
    labels: ['state', 'policy', 'tool'],
  },
  countersign_request_decision_seconds: {
    kind: 'histogram',
    help: 'Time from a request to its decision.',
    labels: ['policy', 'decision'],
    buckets: WAITS,
  },
  countersign_request_effect_seconds: {
    kind: 'histogram',
    help: 'Time from the approval to the end of the action.',
    labels: ['tool', 'state'],
    buckets: RUNS,
  },
  countersign_door_requests_total: {
    kind: 'counter',
    help: 'Requests of other agents and jobs through the door, by caller (empty if none was recognized) and HTTP status.',
    labels: ['caller', 'status'],
  },
  countersign_webhooks_total: {
    kind: 'counter',
    help: 'Messages to the webhooks of callers, by caller and result: delivered, failed (tried again later) or given-up.',
    labels: ['caller', 'result'],
  },
  countersign_requests_open: {
    kind: 'gauge',
    help: 'Open requests of all processes, by state; unknown ones wait for a person to confirm the outcome.',
    labels: ['state'],
  },
  countersign_threads_quarantined: {
    kind: 'gauge',
    help: 'Threads that cannot be processed and wait for an operator.',
    labels: [],
  },
  countersign_freezes: {
    kind: 'gauge',
    help: 'Freezes that hold; while one does, nothing of its scope starts.',
    labels: [],
  },
  countersign_outbox_items: {
    kind: 'gauge',
    help: 'Messages and cards that wait to be sent to Slack: all of them, and those that are due.',
    labels: ['state'],
  },
  countersign_outbox_oldest_seconds: {
    kind: 'gauge',
    help: 'Age of the oldest message or card that waits to be sent, since it was due first.',
    labels: [],
  },
  countersign_webhooks_oldest_seconds: {
    kind: 'gauge',
    help: 'Age of the oldest message that waits to be sent to the webhook of a caller, since it was due first.',
    labels: [],
  },
  countersign_timers_overdue: {
    kind: 'gauge',
    help: 'Timers (expiry, reminder, recovery), threads and actions that are overdue by more than a minute.',
    labels: [],
  },
  countersign_record_up: {
    kind: 'gauge',
    help: '1 if the record in Redis could be measured for this scrape.',
    labels: [],
  },
  countersign_record_writable: {
    kind: 'gauge',
    help: '1 if Redis took a write for this scrape; 0 if its memory or its disk is full.',
    labels: [],
  },
  countersign_record_refused_writes_total: {
    kind: 'counter',
    help: "Changes of the record that Redis refused, by Redis's code; OOM means that its memory is full.",
    labels: ['code'],
  },
  countersign_redis_memory_bytes: {
    kind: 'gauge',
    help: 'Memory that Redis uses, and its maxmemory if it has one.',
    labels: ['kind'],
  },
  countersign_tool_problems: {
    kind: 'gauge',
    help: 'Problems of the tools, such as a module that is missing; the log names them.',
    labels: [],
  },
  countersign_turns_total: {
    kind: 'counter',
    help: 'Turns of the agent, by their end.',
    labels: ['outcome'],
  },
  countersign_turn_seconds: {
    kind: 'histogram',
    help: 'Time of a turn in this process.',
    labels: [],
    buckets: RUNS,
  },
  countersign_model_calls_total: {
    kind: 'counter',
    help: 'Calls of the model, by the way the answer ended.',
    labels: ['model', 'finish'],
  },
  countersign_model_call_seconds: {
    kind: 'histogram',
    help: 'Time of a model call, retries included.',
    labels: ['model'],
    buckets: RUNS,
  },
  countersign_model_retries_total: {
    kind: 'counter',
    help: 'Repeated requests to the model after a failure.',
    labels: ['model'],
  },
  countersign_model_key_accepted: {
    kind: 'gauge',
    help: '0 if the provider refused the key, its quota or the name of a model at the last call of this process, 1 if it answered.',
    labels: ['model'],
  },
  countersign_model_tokens_total: {
    kind: 'counter',
    help: 'Tokens, by kind; cached is a part of input, reasoning a part of output.',
    labels: ['model', 'kind'],
  },
  countersign_tool_calls_total: {
    kind: 'counter',
    help: 'Runs of tools, approved or not, by outcome.',
    labels: ['tool', 'outcome'],
  },
  countersign_slack_calls_total: {
    kind: 'counter',
    help: "Calls of Slack's API, by method and HTTP status; 429 means rate limited.",
    labels: ['method', 'status'],
  },
  countersign_slack_connected: {
    kind: 'gauge',
    help: '1 if Slack can reach this process: a socket is open, or in HTTP mode the bot has started.',
    labels: [],
  },
  countersign_slack_token_accepted: {
    kind: 'gauge',
    help: "0 if Slack refused the bot's token at the last call of this process, 1 if it took it.",
    labels: [],
  },
  countersign_leases_lost_total: {
    kind: 'counter',
    help: 'Turns and attempts that another process took over while this one worked on them.',
    labels: ['kind'],
  },
  countersign_audit_refusals_total: {
    kind: 'counter',
    help: 'Rounds in which the audit log was not signed because it does not continue what was signed.',
    labels: ['code'],
  },
  countersign_audit_export_failures_total: {
    kind: 'counter',
    help: 'Rounds in which the audit log could not be exported, by the kind of sink.',
    labels: ['sink'],
  },
  countersign_messages_dropped_total: {
    kind: 'counter',
    help: 'Messages and cards that Slack refused for good.',
    labels: [],
  },
} as const satisfies Readonly<Record<string, MetricSpec>>;

export type MetricName = keyof typeof METRICS;
type NamesOf<Kind> = {
  [Name in MetricName]: (typeof METRICS)[Name]['kind'] extends Kind ? Name : never;
}[MetricName];
export type CounterName = NamesOf<'counter'>;
export type GaugeName = NamesOf<'gauge'>;
export type HistogramName = NamesOf<'histogram'>;
export type LabelsOf<Name extends MetricName> = Readonly<
  Record<(typeof METRICS)[Name]['labels'][number], string>
>;
