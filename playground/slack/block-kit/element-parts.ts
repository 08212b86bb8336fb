import { z } from 'zod';
import { LIMITS } from '../limits.ts';
import { confirmation, dispatchActionConfig, plainText, text } from './composition.ts';

/** The id of an action, which Slack makes up when it is left out. */
export const action_id = text(LIMITS.actionId).optional();
/** A dialog before the action. */
export const confirm = confirmation.optional();
/** Whether the element has the cursor when a view opens. */
export const focus_on_load = z.boolean().optional();
/** What an empty element shows. */
export const placeholder = plainText(LIMITS.placeholder).optional();
/** When typing sends an action. */
export const dispatch_action_config = dispatchActionConfig.optional();
/** What a screen reader says. */
export const accessibility_label = text(LIMITS.accessibilityLabel).optional();

/** What all elements with a choice have. */
export const picker = { action_id, confirm, focus_on_load };
/** What all menus have. */
export const menu = { ...picker, placeholder };
/** What all text inputs have. */
export const input = { action_id, placeholder, dispatch_action_config, focus_on_load };
