// Shared by the elements: making nodes, and checking links.
type Child = Node | string | undefined | false;

/** Makes an element. Texts are set as texts, never as markup. */
export function make<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Readonly<Record<string, string | undefined>> = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) if (value !== undefined) element.setAttribute(name, value);
  element.append(...children.filter((child) => child !== undefined && child !== false));
  return element;
}

/** @returns the address if a page may go there; undefined for scripts and for a text that is no address */
export function safeUrl(url: string | undefined): string | undefined {
  if (!url) return undefined;
  try {
    const { protocol, href } = new URL(url, document.baseURI);
    return ["http:", "https:", "mailto:", "tel:"].includes(protocol) ? href : undefined;
  } catch {
    return undefined;
  }
}

/** Adds styles to a shadow root without an inline style, which a policy of the page may forbid. */
export function adoptStyle(root: ShadowRoot, css: string): void {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(css);
  root.adoptedStyleSheets = [sheet];
}

/** Pixels between a panel and the edge of the viewport. */
const MARGIN = 8;

/**
 * Keeps a panel that hangs from a button within the viewport: moved aside, above the button where there is more room, and
 * no higher than that room.
 */
export function placeWithin(panel: HTMLElement, button: HTMLElement): void {
  const { style } = panel;
  Object.assign(style, { top: "", bottom: "", maxHeight: "", translate: "" });
  const { clientWidth, clientHeight } = document.documentElement;
  const { top, bottom } = button.getBoundingClientRect();
  const [above, below] = [top - MARGIN, clientHeight - bottom - MARGIN];
  const isAbove = panel.offsetHeight > below && above > below;
  if (isAbove) Object.assign(style, { top: "auto", bottom: "100%" });
  const room = isAbove ? above : below;
  if (panel.offsetHeight > room) style.maxHeight = `${Math.max(0, room)}px`;

  const { left, right } = panel.getBoundingClientRect();
  const aside = Math.max(MARGIN - left, Math.min(0, clientWidth - MARGIN - right));
  if (aside !== 0) style.translate = `${aside}px 0`;
}
