const PATHS = {
  back: 'M12.5 4.5 7 10l5.5 5.5',
  close: 'm5 5 10 10M15 5 5 15',
  send: 'M3.5 16.5 17 10 3.5 3.5 5.5 10zM5.5 10H11',
  reply:
    'M3.5 5.5A1.5 1.5 0 0 1 5 4h10a1.5 1.5 0 0 1 1.5 1.5v6A1.5 1.5 0 0 1 15 13H9.5L6 16v-3H5a1.5 1.5 0 0 1-1.5-1.5z',
  smile: 'M10 17a7 7 0 1 0 0-14 7 7 0 0 0 0 14M7.2 12a3.4 3.4 0 0 0 5.6 0M7.7 8.2v.1M12.3 8.2v.1',
  link: 'M8.5 11.5a3 3 0 0 0 4.3 0l2.3-2.3A3 3 0 0 0 10.8 5l-.9.9M11.5 8.5a3 3 0 0 0-4.3 0l-2.3 2.3A3 3 0 0 0 9.2 15l.9-.9',
  edit: 'm12.5 4.8 2.7 2.7M4.5 15.5l.6-3.2 8-8a1.4 1.4 0 0 1 2 0l.6.6a1.4 1.4 0 0 1 0 2l-8 8z',
  trash: 'M4.5 6h11M8 6V4.2h4V6M6 6l.6 10h6.8L14 6M8.7 9v4.5M11.3 9v4.5',
  lock: 'M5.5 9h9v7h-9zM7.5 9V6.5a2.5 2.5 0 0 1 5 0V9',
  archive: 'M3.5 4.5h13v3h-13zM4.5 7.5v8h11v-8M8 10.5h4',
  window: 'M11.5 4H16v4.5M16 4l-6 6M14 11.5V16H4V6h4.5',
  down: 'm5 8 5 5 5-5',
  check: 'm4.5 10.5 3.5 3.5 7.5-8',
  home: 'M3.5 9.5 10 4l6.5 5.5M5.5 8v8h9V8M8.5 16v-4.5h3V16',
  people:
    'M7.5 9.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5M3 16c0-2.8 1.8-4.5 4.5-4.5S12 13.2 12 16M12.5 4.7a2.5 2.5 0 0 1 0 4.6M14 11.8c1.9.6 3 2.1 3 4.2',
  tour: 'M10 17a7 7 0 1 0 0-14 7 7 0 0 0 0 14M12.8 7.2l-1.7 3.9-3.9 1.7 1.7-3.9z',
  record:
    'M4 5.5C4 4.1 6.7 3 10 3s6 1.1 6 2.5S13.3 8 10 8 4 6.9 4 5.5zM4 5.5v9C4 15.9 6.7 17 10 17s6-1.1 6-2.5v-9M4 10c0 1.4 2.7 2.5 6 2.5s6-1.1 6-2.5',
  terminal: 'M3 4.5h14v11H3zM6 8l2.5 2L6 12M10.5 12.5H14',
  sun: 'M10 13.2a3.2 3.2 0 1 0 0-6.4 3.2 3.2 0 0 0 0 6.4M10 2.5v1.8M10 15.7v1.8M2.5 10h1.8M15.7 10h1.8M4.7 4.7 6 6M14 14l1.3 1.3M4.7 15.3 6 14M14 6l1.3-1.3',
  moon: 'M16 11.8A6.5 6.5 0 0 1 8.2 4 6.5 6.5 0 1 0 16 11.8z',
  contrast: 'M10 17a7 7 0 1 0 0-14 7 7 0 0 0 0 14M10 3v14M10 6h4.5M10 10h7M10 14h4.5',
  stop: 'M6 6h8v8H6z',
  attach:
    'm15.5 9.5-5.6 5.6a3.2 3.2 0 0 1-4.5-4.5l6.2-6.2a2.1 2.1 0 0 1 3 3l-6.2 6.2a1 1 0 0 1-1.5-1.5l5.6-5.6',
  at: 'M12.8 10a2.8 2.8 0 1 1-5.6 0 2.8 2.8 0 0 1 5.6 0m0 0v1.2a2 2 0 0 0 4 0V10a6.8 6.8 0 1 0-2.7 5.4',
} as const;

/** Names of the icons. */
export type IconName = keyof typeof PATHS;

/** A line icon in the text colour; hidden from screen readers, so its button needs a label. */
export function Icon({ name, size = 18 }: { name: IconName; size?: number }) {
  return (
    <svg
      width={size}
      height={size}
      viewBox="0 0 20 20"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.5"
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
      focusable="false"
    >
      <path d={PATHS[name]} />
    </svg>
  );
}
