import { Ask, type News } from './bot-messages.ts';

export function tell(news: News): void {
  process.send?.(news);
}

/** Answers whenever the bench asks what this process has used; the process ends with the bench. */
export function tellUsage(): void {
  process.on('message', (message) => {
    const asked = Ask.safeParse(message);
    if (!asked.success) return;
    const { user, system } = process.cpuUsage();
    if (asked.data.collect) globalThis.gc?.();
    const { heapUsed, rss } = process.memoryUsage();
    tell({ kind: 'usage', cpuMs: (user + system) / 1_000, heapBytes: heapUsed, residentBytes: rss });
  });
  process.on('disconnect', () => process.exit(0));
}
