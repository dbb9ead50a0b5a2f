// Icons: one path each, on a 16-pixel grid, drawn in the colour of the text.

const paths = {
  home: "M2.5 7 8 2.5 13.5 7v6.5h-4v-4h-3v4h-4z",
  send: "M14 2 7 9M14 2l-4.5 12L7 9 2 6.5z",
  activity: "M1.5 8h3l2-5 3 10 2-5h3",
  people:
    "M6 8a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5zm-4.5 5.5c0-2.5 2-4 4.5-4s4.5 1.5 4.5 4M11 3.2a2.5 2.5 0 0 1 0 4.6M12 9.8c1.5.6 2.5 1.9 2.5 3.7",
  import: "M8 2v8m0 0 3-3m-3 3L5 7M2.5 11v2.5h11V11",
  export: "M8 10V2m0 0L5 5m3-3 3 3M2.5 11v2.5h11V11",
  outbox: "M2 9.5h3.5l1 2h3l1-2H14v4H2zM2 9.5 4 3h8l2 6.5",
  channel: "M8 8.5v5M5.5 6a3.5 3.5 0 0 1 5 0M3.5 4a6.3 6.3 0 0 1 9 0M8 8.5h.01",
  journey:
    "M3.5 5.5a2 2 0 1 0 0-4 2 2 0 0 0 0 4zm9 9a2 2 0 1 0 0-4 2 2 0 0 0 0 4zM5.5 3.5H10a2.5 2.5 0 0 1 0 5H6a2 2 0 0 0 0 4h4.5",
  campaign: "M2.5 6.5v3h2.5l5 3.5V3l-5 3.5zM12.5 6c1 1.2 1 2.8 0 4",
  insights: "M2.5 13.5V8m3.7 5.5V3m3.7 10.5v-4m3.6 4V5.5",
  segment: "M8 2v6l5 3.3M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12z",
  webhook: "M6 7.5 4 11a1.8 1.8 0 1 0 2 .5h5M10 11.5a1.8 1.8 0 1 0 1.5-2.2L9 5M6.5 4.5a1.8 1.8 0 1 1 3.2-.5",
  content: "M3.5 2h6l3 3v9h-9zM9.5 2v3h3M6 8.5h4M6 11h4",
  settings:
    "M8 10a2 2 0 1 0 0-4 2 2 0 0 0 0 4zM8 1.5v2M8 12.5v2M1.5 8h2M12.5 8h2M3.4 3.4l1.4 1.4M11.2 11.2l1.4 1.4M3.4 12.6l1.4-1.4M11.2 4.8l1.4-1.4",
  operator: "M2 3h12v4H2zM2 9h12v4H2zM4.5 5h.01M4.5 11h.01",
  search: "M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10zm7 2-3.5-3.5",
  plus: "M8 3v10M3 8h10",
  check: "M3 8.5 6.5 12 13 4.5",
  cross: "M4 4l8 8M12 4l-8 8",
  trash: "M3 4.5h10M6.5 4.5V3h3v1.5M4.5 4.5l.5 9h6l.5-9M6.8 7v4M9.2 7v4",
  dash: "M3.5 8h9",
  clock: "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12zM8 4.5V8l2.5 1.5",
  pause: "M5.5 3.5v9M10.5 3.5v9",
  play: "M5 3l8 5-8 5z",
  warning: "M8 2 1.5 13.5h13zM8 6.5v3.5M8 12h.01",
  pencil: "M3 13l.7-2.8L11 3l2 2-7.2 7.3z",
  archive: "M2 3h12v3H2zM3 6v7.5h10V6M6.5 9h3",
  blocked: "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12M3.8 3.8l8.4 8.4",
  shield: "M8 2l5 2v4c0 3-2 5-5 6-3-1-5-3-5-6V4z",
  code: "M5.5 4.5 2 8l3.5 3.5M10.5 4.5 14 8l-3.5 3.5",
  menu: "M2 4h12M2 8h12M2 12h12",
  sun: "M8 11a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM8 1.5v1M8 13.5v1M1.5 8h1M13.5 8h1M3.4 3.4l.7.7M11.9 11.9l.7.7M3.4 12.6l.7-.7M11.9 4.1l.7-.7",
  moon: "M13 9.5A5.5 5.5 0 1 1 6.5 3a4.5 4.5 0 0 0 6.5 6.5z",
  leave: "M6.5 2.5h-4v11h4M6 8h8m0 0-3-3m3 3-3 3",
  left: "M10 3 5 8l5 5",
  right: "M6 3l5 5-5 5",
  dots: "M3 8h1M7.5 8h1M12 8h1",
} as const;

export type IconName = keyof typeof paths;

export function Icon({ name }: { name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
      <path d={paths[name]} />
    </svg>
  );
}
