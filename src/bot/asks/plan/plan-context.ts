import type { Store } from '../../../store/port/store.ts';
import type { BotContext } from '../../context.ts';

/** A call that nobody could ever approve or answer, with the reason in words. */
export interface Unaskable {
  readonly unaskable: string;
}

/** The parts of the context that a plan needs. */
export type PlanContext = Pick<BotContext, 'toolbox' | 'directory'> & {
  readonly store: Pick<Store, 'readDocument' | 'list' | 'load' | 'readTotals'>;
};
