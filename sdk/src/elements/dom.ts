// What the elements share: making nodes, following links.
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

/** @returns the address if a page may go there; undefined for scripts and what is none */
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
