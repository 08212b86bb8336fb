import type { ChannelEntity, PersonEntity } from '../../../../protocol.ts';
import type { JsonObject } from '../../../../slack/state/types.ts';
import { isObject, objects, stringOf, strings } from '../json.ts';
import { plainString } from '../text/read-text-object.ts';

/** One option of a menu. */
export interface MenuOption {
  readonly value: string;
  readonly label: string;
}

/** Options under one heading; without a heading where the menu has no groups. */
export interface MenuGroup {
  readonly label?: string;
  readonly options: readonly MenuOption[];
}

/** People and channels that menus can offer. */
export interface MenuSources {
  readonly people: readonly PersonEntity[];
  readonly channels: readonly ChannelEntity[];
  readonly nameOf: (userId: string) => string;
  readonly me: string;
}

/** Returns the options of a menu, its own or from the workspace. */
export function groupsOf(element: JsonObject, workspace: MenuSources): readonly MenuGroup[] {
  switch (stringOf(element.type).replace(/^multi_/, '')) {
    case 'users_select':
      return [
        {
          options: workspace.people.map(({ id, realName, name }) => ({ value: id, label: realName || name })),
        },
      ];
    case 'channels_select':
      return [{ options: channels(workspace, ['public']) }];
    case 'conversations_select': {
      const filter = isObject(element.filter) ? element.filter : {};
      const kinds = Array.isArray(filter.include) ? strings(filter.include) : ['public', 'private', 'im'];
      return [{ options: channels(workspace, kinds) }];
    }
    default:
      return [
        ...(element.options === undefined ? [] : [{ options: objects(element.options).map(readOption) }]),
        ...objects(element.option_groups).map((group) => ({
          label: plainString(group.label),
          options: objects(group.options).map(readOption),
        })),
      ];
  }
}

/** Reads an option object; its description follows its label. */
export function readOption(option: JsonObject): MenuOption {
  const description = option.description === undefined ? '' : ` — ${plainString(option.description)}`;
  return { value: stringOf(option.value), label: `${plainString(option.text)}${description}` };
}

function channels({ channels: all, nameOf, me }: MenuSources, kinds: readonly string[]): MenuOption[] {
  return all
    .filter(({ type, isArchived }) => kinds.includes(type) && !isArchived)
    .map(({ id, name, type, members }) => {
      const other = members.find((member) => member !== me) ?? me;
      return { value: id, label: type === 'im' ? nameOf(other) : `#${name}` };
    });
}
