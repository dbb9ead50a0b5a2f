// What a mail is designed as: its look and its blocks. The service keeps it as text beside the HTML, and knows nothing of it.

export interface MailTheme {
  /** The color of buttons and links. */
  accent: string;
  /** Behind the card. */
  page: string;
  card: string;
  text: string;
  font: "sans" | "serif";
  /** Of the card and its buttons, in pixels. */
  radius: number;
}

export const PLAIN: MailTheme = {
  accent: "#2c55c9",
  page: "#f1f3f7",
  card: "#ffffff",
  text: "#20242c",
  font: "sans",
  radius: 10,
};

export const fonts: Record<MailTheme["font"], string> = {
  sans: "-apple-system,BlinkMacSystemFont,'Segoe UI',Roboto,Helvetica,Arial,sans-serif",
  serif: "Georgia,'Times New Roman',serif",
};

export type Align = "left" | "center" | "right";

export interface Cell {
  image: string;
  title: string;
  text: string;
  label: string;
  url: string;
}

export interface Says {
  heading: { text: string; size: "large" | "medium" | "small"; align: Align };
  text: { text: string; size: "normal" | "small"; align: Align };
  button: { label: string; url: string; align: Align; look: "full" | "line" };
  image: { url: string; alt: string; link: string; width: number; align: Align };
  columns: { cells: readonly Cell[] };
  divider: { space: number };
  spacer: { height: number };
  social: { links: readonly { name: string; url: string }[]; align: Align };
  footer: { text: string; align: Align };
  html: { code: string };
}

export type BlockType = keyof Says;

/** With its background, across the whole width of the card, where it has one. */
type BlockOf<T extends BlockType> = { id: string; type: T; back?: string } & Says[T];
export type Block = { [T in BlockType]: BlockOf<T> }[BlockType];

export interface Design {
  look: MailTheme;
  blocks: readonly Block[];
}

export interface Kind<T extends BlockType> {
  label: string;
  start: Says[T];
  /** In one line, for the list of blocks. */
  about: (says: Says[T]) => string;
  html: (says: Says[T], look: MailTheme) => string;
  /** In pixels, above and below, and at the sides. */
  padding?: readonly [vertical: number, side: number];
}

export const newId = (): string => crypto.randomUUID().slice(0, 8);

/** What was kept as text; undefined where it is not of this editor. */
export function readDesign(text: string | undefined): Design | undefined {
  if (!text) return undefined;
  try {
    const design = JSON.parse(text) as Partial<Design>;
    return design.look && Array.isArray(design.blocks) ? { look: design.look, blocks: design.blocks } : undefined;
  } catch {
    return undefined;
  }
}
