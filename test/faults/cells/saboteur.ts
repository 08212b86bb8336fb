import type { FaultAction } from '../worker/fault-messages.ts';
import type { Worker } from '../world/start-worker.ts';
import { TIMING, type World } from '../world/start-world.ts';

const PATIENCE_MS = 2_000;

/**
 * Arms live workers, one point each, the points that failed least first, for as long as the world is busy. A worker that dies
 * is replaced; one that was stopped is woken when its lease has long run out.
 */
export class Saboteur {
  /** How often each point has failed. */
  readonly tally = new Map<string, number>();
  readonly #world: World;
  readonly #action: FaultAction;
  readonly #atEach: number;
  readonly #armed = new Map<Worker, { readonly point: string; readonly at: number }>();
  readonly #asleep = new Set<Worker>();
  /** How often a worker was armed with it, so that all get their turn. */
  readonly #tried = new Map<string, number>();
  #seen = 0;

  constructor(world: World, options: { readonly action: FaultAction; readonly atEach: number }) {
    this.#world = world;
    this.#action = options.action;
    this.#atEach = options.atEach;
  }

  get count(): number {
    return [...this.tally.values()].reduce((sum, each) => sum + each, 0);
  }

  /** The points that are to fail still. */
  get missing(): string[] {
    return [...this.#world.reached].filter((point) => (this.tally.get(point) ?? 0) < this.#atEach);
  }

  /** Called again and again: counts what failed, wakes who sleeps, arms who is free. */
  step(): void {
    for (const { point, pid } of this.#world.faults.slice(this.#seen)) {
      this.tally.set(point, (this.tally.get(point) ?? 0) + 1);
      for (const worker of this.#armed.keys()) if (worker.pid === pid) this.#release(worker);
    }
    this.#seen = this.#world.faults.length;
    for (const worker of this.#armed.keys()) if (!this.#world.workers.has(worker)) this.#armed.delete(worker);
    // A point that is seldom passed must not keep a worker from failing elsewhere.
    for (const worker of this.#world.workers)
      if (!this.#asleep.has(worker) && Date.now() - (this.#armed.get(worker)?.at ?? 0) > PATIENCE_MS)
        this.#arm(worker);
  }

  /** Lets every worker go on undisturbed. */
  rest(): void {
    for (const worker of this.#world.workers) {
      worker.arm({ point: '', action: this.#action, passes: 0 });
      worker.wake();
    }
  }

  #release(worker: Worker): void {
    if (this.#action !== 'stop') {
      this.#armed.delete(worker);
      return;
    }
    this.#asleep.add(worker);
    setTimeout(() => {
      worker.wake();
      this.#asleep.delete(worker);
      this.#armed.delete(worker);
    }, TIMING.leaseMs * 2);
  }

  #arm(worker: Worker): void {
    const busy = [...this.#armed.values()].map(({ point }) => point);
    const [next] = this.missing.toSorted(
      (left, right) => this.#weight(left, busy) - this.#weight(right, busy),
    );
    if (next === undefined) return;
    this.#tried.set(next, (this.#tried.get(next) ?? 0) + 1);
    this.#armed.set(worker, { point: next, at: Date.now() });
    worker.arm({ point: next, action: this.#action, passes: Math.floor(Math.random() * 3) });
  }

  #weight(point: string, busy: readonly string[]): number {
    const waiting = busy.filter((each) => each === point).length;
    return (this.tally.get(point) ?? 0) + waiting + (this.#tried.get(point) ?? 0) / 2;
  }
}
