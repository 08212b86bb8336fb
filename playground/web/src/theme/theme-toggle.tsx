import { Icon, type IconName } from '../icon.tsx';
import { chooseTheme, type Theme, useTheme } from './theme.ts';

const NEXT: Record<Theme, Theme> = { system: 'light', light: 'dark', dark: 'system' };
const ICONS: Record<Theme, IconName> = { system: 'contrast', light: 'sun', dark: 'moon' };

/** Cycles through the themes: system, light, dark. */
export function ThemeToggle() {
  const theme = useTheme();
  const label = `Theme: ${theme}. Change to ${NEXT[theme]}.`;
  return (
    <button
      type="button"
      className="sidebar-icon-button"
      aria-label={label}
      title={label}
      onClick={() => chooseTheme(NEXT[theme])}
    >
      <Icon name={ICONS[theme]} />
    </button>
  );
}
