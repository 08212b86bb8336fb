import { z } from 'zod';
import { LIMITS } from '../limits.ts';
import { confirmation, dispatchActionConfig, plainText, text } from './composition.ts';

/** The id of an action; Slack generates a missing one. */
export const action_id = text(LIMITS.actionId).optional();
/** A dialog before the action. */
export const confirm = confirmation.optional();
/** True to focus the element when a view opens. */
export const focus_on_load = z.boolean().optional();
/** Text of an empty element. */
export const placeholder = plainText(LIMITS.placeholder).optional();
/** The keystrokes that send an action. */
export const dispatch_action_config = dispatchActionConfig.optional();
/** Label for screen readers. */
export const accessibility_label = text(LIMITS.accessibilityLabel).optional();

/** Fields of all elements with a choice. */
export const picker = { action_id, confirm, focus_on_load };
/** Fields of all menus. */
export const menu = { ...picker, placeholder };
/** Fields of all text inputs. */
export const input = { action_id, placeholder, dispatch_action_config, focus_on_load };
