import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import {
  type CounterName,
  type GaugeName,
  type HistogramName,
  type LabelsOf,
  METRICS,
  type MetricName,
  type MetricSpec,
} from './metrics-table.ts';

/** The metrics of the process itself: CPU, memory, event-loop lag. They belong to no bot, so they are collected once. */
let processRegistry: Registry | undefined;

function processMetrics(): Registry {
  if (processRegistry === undefined) {
    processRegistry = new Registry();
    collectDefaultMetrics({ register: processRegistry });
  }
  return processRegistry;
}

/** The metrics of one bot, made from the table. */
export class Metrics {
  readonly #registry = new Registry();
  readonly #counters = new Map<MetricName, Counter>();
  readonly #gauges = new Map<MetricName, Gauge>();
  readonly #histograms = new Map<MetricName, Histogram>();
  readonly contentType = Registry.PROMETHEUS_CONTENT_TYPE;

  constructor() {
    for (const [key, spec] of Object.entries(METRICS)) this.#register(key as MetricName, spec);
  }

  count<Name extends CounterName>(name: Name, labels: LabelsOf<Name>, amount = 1): void {
    this.#counters.get(name)?.inc(labels, amount);
  }

  set<Name extends GaugeName>(name: Name, labels: LabelsOf<Name>, value: number): void {
    this.#gauges.get(name)?.set(labels, value);
  }

  /** Takes a gauge back, because there is no such value any more. */
  unset<Name extends GaugeName>(name: Name, labels: LabelsOf<Name>): void {
    this.#gauges.get(name)?.remove(labels);
  }

  /** Records a time in seconds; clocks of two machines can differ, so less than nothing counts as nothing. */
  time<Name extends HistogramName>(name: Name, labels: LabelsOf<Name>, seconds: number): void {
    this.#histograms.get(name)?.observe(labels, Math.max(0, seconds));
  }

  /** Writes all metrics, with those of the process, in Prometheus's text format. */
  text(): Promise<string> {
    return Registry.merge([this.#registry, processMetrics()]).metrics();
  }

  #register(name: MetricName, { kind, help, labels, buckets }: MetricSpec): void {
    const settings = { name, help, labelNames: [...labels], registers: [this.#registry] };
    if (kind === 'counter') this.#counters.set(name, new Counter(settings));
    else if (kind === 'gauge') this.#gauges.set(name, new Gauge(settings));
    else
      this.#histograms.set(
        name,
        new Histogram({ ...settings, ...(buckets !== undefined && { buckets: [...buckets] }) }),
      );
  }
}
