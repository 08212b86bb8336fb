import { median } from '../support/quantiles.ts';
import type { BotKind } from './bots.ts';

type BotName = BotKind['name'];

/** Collects samples of each figure for each bot; the rows show their medians, in the order of the first samples. */
export class Figures {
  readonly #samples = new Map<string, Map<BotName, number[]>>();

  add(figure: string, bot: BotName, ...samples: readonly number[]): void {
    const byBot = this.#samples.get(figure) ?? new Map<BotName, number[]>();
    this.#samples.set(figure, byBot);
    byBot.set(bot, [...(byBot.get(bot) ?? []), ...samples]);
  }

  /** Formats the figures of the bots side by side, with the ratios of the first bot to each of the others. */
  toRows(bots: readonly BotName[]): string[][] {
    return [...this.#samples].map(([figure, byBot]) => {
      // A bot without samples of a count never did what is counted.
      const values = bots.map((bot) => median(byBot.get(bot) ?? [0]));
      const [own = Number.NaN, ...rest] = values;
      return [figure, ...values.map(formatValue), ...rest.map((value) => formatRatio(own / value))];
    });
  }
}

function formatValue(value: number): string {
  if (value >= 100) return Math.round(value).toLocaleString('en');
  return value.toFixed(value >= 10 ? 1 : 2).replace(/\.?0+$/, '');
}

function formatRatio(ratio: number): string {
  return Number.isFinite(ratio) ? ratio.toFixed(2) : '';
}
