import type { Slot } from './element-state.ts';

/** What an element is told by the block around it. */
export interface ElementProps extends Slot {
  /** Whether a change is sent at once. */
  readonly dispatches: boolean;
  /** The id for its control, so that a label can point at it. */
  readonly id: string;
  /** The element whose words name it; missing where it has no label but its own placeholder. */
  readonly labelledBy?: string;
  readonly describedBy?: string;
  readonly isInvalid: boolean;
  readonly isRequired: boolean;
}

/** The attributes that name a control and say how it stands. */
export function ariaOf(props: ElementProps, name: string) {
  return {
    ...(props.labelledBy === undefined ? { 'aria-label': name } : { 'aria-labelledby': props.labelledBy }),
    ...(props.describedBy !== undefined && { 'aria-describedby': props.describedBy }),
    ...(props.isInvalid && { 'aria-invalid': true }),
    ...(props.element.focus_on_load === true && { 'data-focus-on-load': true }),
  };
}
