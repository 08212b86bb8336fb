import type { FaultAction } from '../worker/fault-messages.ts';
import type { Worker } from '../world/start-worker.ts';
import { NOTICE_MS, type World } from '../world/start-world.ts';

/** The time a worker runs before it is armed, so that work gets done and rare points are reached. */
const WORK_MS = 400;
/** After so long a worker is armed anew, with what is missing by then. */
const PATIENCE_MS = 2_000;
/** One in so many workers is armed before it does anything: some points are passed only at the start. */
const ONE_AT_BIRTH_IN = 3;
/** Points that workers seldom come to, and a way to bring them there once no other is left. */
const HELP: readonly { readonly to: RegExp; readonly give: (world: World, worker: Worker) => void }[] = [
  // A turn is given back mostly by a worker that is told to end.
  { to: /^script release:/, give: (_world, worker) => worker.end() },
  {
    to: /^script outbox-retry:/,
    give: ({ workspace }) => workspace.fail('chat.update', { kind: 'status', status: 503 }, { calls: 2 }),
  },
];
/** Points that failed this much more often than others leave them the way. */
const AHEAD = 5;

/**
 * Arms live workers with the points that failed least, for as long as the world is busy. A worker that dies is replaced; one that
 * was stopped is woken when its lease has long run out.
 */
export class Saboteur {
  /** The number of failures at each point, those of earlier sittings too. */
  readonly tally: Map<string, number>;
  /** The failures of this sitting. */
  count = 0;
  readonly #world: World;
  readonly #action: FaultAction;
  readonly #atEach: number;
  readonly #where: RegExp;
  readonly #dueAt = new Map<Worker, number>();
  readonly #helped = new WeakSet<Worker>();
  #seen = 0;
  #born = 0;

  constructor(
    world: World,
    options: { readonly action: FaultAction; readonly atEach: number; readonly where?: RegExp },
  ) {
    this.tally = new Map(world.run.earlier);
    this.#world = world;
    this.#action = options.action;
    this.#atEach = options.atEach;
    this.#where = options.where ?? /./;
    // Who sleeps or loses its connections before it is up would never be.
    if (options.action === 'kill') world.meetAtBirth((worker) => this.#meet(worker));
  }

  /** The points that are to fail still. */
  get missing(): string[] {
    return [...this.#world.reached].filter(
      (point) => this.#where.test(point) && this.#failed(point) < this.#atEach,
    );
  }

  /** Called again and again: counts what failed, wakes who sleeps, arms who is free. */
  step(): void {
    for (const { point, pid } of this.#world.faults.slice(this.#seen)) {
      this.tally.set(point, this.#failed(point) + 1);
      this.count += 1;
      for (const worker of this.#world.workers) if (worker.pid === pid) this.#goOn(worker);
    }
    this.#seen = this.#world.faults.length;
    for (const worker of this.#dueAt.keys()) if (!this.#world.workers.has(worker)) this.#dueAt.delete(worker);
    for (const worker of this.#world.workers) {
      const due = this.#dueAt.get(worker);
      if (due === undefined) this.#dueAt.set(worker, Date.now() + WORK_MS);
      else if (due <= Date.now()) this.#arm(worker);
    }
  }

  /** Lets every worker go on undisturbed. */
  rest(): void {
    this.#world.meetAtBirth(() => {});
    for (const worker of this.#world.workers) {
      worker.arm({ points: [], action: this.#action, passes: 0 });
      worker.wake();
    }
  }

  #goOn(worker: Worker): void {
    if (this.#action !== 'stop') {
      this.#dueAt.set(worker, Date.now() + WORK_MS);
      return;
    }
    const asleepMs = NOTICE_MS * 2;
    this.#dueAt.set(worker, Date.now() + asleepMs + WORK_MS);
    setTimeout(() => worker.wake(), asleepMs);
  }

  #meet(worker: Worker): void {
    this.#born += 1;
    if (this.#born % ONE_AT_BIRTH_IN === 0) this.#arm(worker);
  }

  #arm(worker: Worker): void {
    const { missing } = this;
    const least = Math.min(...missing.map((point) => this.#failed(point)));
    const points = missing.filter((point) => this.#failed(point) <= least + AHEAD);
    const help = HELP.filter(({ to }) => points.some((point) => to.test(point)));
    const isOnlyHelped = points.every((point) => help.some(({ to }) => to.test(point)));
    const passes = isOnlyHelped ? 0 : Math.floor(Math.random() * 3);
    worker.arm({ points, action: this.#action, passes });
    this.#dueAt.set(worker, Date.now() + PATIENCE_MS);
    if (this.#action !== 'kill' || !isOnlyHelped) return;
    if (!this.#world.workers.has(worker) || this.#helped.has(worker)) return;
    this.#helped.add(worker);
    for (const { give } of help) give(this.#world, worker);
  }

  #failed(point: string): number {
    return this.tally.get(point) ?? 0;
  }
}
