// The ten blocks, in the order of the palette.
import { columns } from "./blocks/columns.ts";
import { onColour } from "./colours.ts";
import { type Block, type BlockType, fonts, type Kind, type MailTheme, newId } from "./design.ts";
import { escaped, paragraphs, styleOf, table } from "./markup.ts";

const button: Kind<"button"> = {
  label: "Button",
  start: { label: "Take a look", url: "https://example.com/", align: "left", look: "full" },
  about: ({ label }) => label,
  html: buttonHtml,
};

interface Says {
  label: string;
  url: string;
  align: string;
  look: "full" | "line";
}

/** A cell that is coloured as a whole: Outlook pads cells, and not links. */
function buttonHtml(
  { label, url, align, look: kind }: Says,
  look: { accent: string; font: "sans" | "serif"; radius: number },
): string {
  const isFull = kind === "full";
  const cell = styleOf({
    "border-radius": Math.min(look.radius, 24),
    background: isFull ? look.accent : undefined,
    border: isFull ? undefined : `2px solid ${look.accent}`,
    padding: isFull ? "14px 28px" : "12px 26px",
    "mso-padding-alt": isFull ? "14px 28px" : "12px 26px",
  });
  const link = styleOf({
    display: "inline-block",
    "font-family": fonts[look.font],
    "font-size": 16,
    "line-height": 20,
    color: isFull ? onColour(look.accent) : look.accent,
    "text-decoration": "none",
  });
  const a = `<a href="${escaped(url)}" target="_blank" style="${link};font-weight:600">${escaped(label)}</a>`;
  const back = isFull ? ` bgcolor="${look.accent}"` : "";
  return table(
    `<tr><td class="${isFull ? "b" : "l"}" align="center"${back} style="${cell}">${a}</td></tr>`,
    `align="${align}"${align === "center" ? ' style="margin:0 auto"' : ""}`,
  );
}

const sizes = { large: ["h1", 30, 38], medium: ["h2", 22, 30], small: ["h3", 17, 24] } as const;

const heading: Kind<"heading"> = {
  label: "Heading",
  start: { text: "A clear heading", size: "medium", align: "left" },
  about: ({ text }) => text,
  html: ({ text, size, align }, look) => {
    const [tag, pixels, line] = sizes[size];
    const style = styleOf({
      margin: 0,
      "font-family": fonts[look.font],
      "font-size": pixels,
      "line-height": line,
      "font-weight": "700",
      "letter-spacing": "-0.01em",
      color: look.text,
      "text-align": align,
    });
    return `<${tag} class="t" style="${style}">${escaped(text)}</${tag}>`;
  },
  padding: [6, 32],
};

const text: Kind<"text"> = {
  label: "Text",
  start: {
    text: "Hello {{ subscriber.first_name | default: 'there' }},\n\nsay what this is about, and what to do next.",
    size: "normal",
    align: "left",
  },
  about: ({ text: words }) => words,
  html: ({ text: words, size, align }, look) => {
    const style = styleOf({
      "font-family": fonts[look.font],
      "font-size": size === "small" ? 14 : 16,
      "line-height": size === "small" ? 22 : 26,
      color: look.text,
      "text-align": align,
    });
    return paragraphs(words, style, look.accent);
  },
  padding: [6, 32],
};

const image: Kind<"image"> = {
  label: "Image",
  start: { url: "", alt: "", link: "", width: 536, align: "center" },
  about: ({ alt, url }) => alt || url || "no image yet",
  html: ({ url, alt, link, width, align }, look) => {
    if (!url) return "";
    const style = styleOf({
      display: "inline-block",
      width: "100%",
      "max-width": width,
      height: "auto",
      border: "0",
      "border-radius": look.radius,
    });
    const img = `<img src="${escaped(url)}" alt="${escaped(alt)}" width="${width}" style="${style}">`;
    const shown = link ? `<a href="${escaped(link)}" target="_blank">${img}</a>` : img;
    return `<div style="text-align:${align};font-size:0;line-height:0">${shown}</div>`;
  },
};

const divider: Kind<"divider"> = {
  label: "Divider",
  start: { space: 16 },
  about: () => "a line",
  html: ({ space }) =>
    table(
      `<tr><td style="padding:${space}px 0"><div class="d" style="border-top:1px solid #d9dde5;font-size:0;line-height:0">&nbsp;</div></td></tr>`,
      'width="100%"',
    ),
  padding: [0, 32],
};

const spacer: Kind<"spacer"> = {
  label: "Space",
  start: { height: 24 },
  about: ({ height }) => `${height} pixels`,
  html: ({ height }) => `<div style="height:${height}px;line-height:${height}px;font-size:1px">&nbsp;</div>`,
  padding: [0, 0],
};

const social: Kind<"social"> = {
  label: "Social links",
  start: {
    links: [
      { name: "Instagram", url: "https://example.com/instagram" },
      { name: "LinkedIn", url: "https://example.com/linkedin" },
    ],
    align: "center",
  },
  about: ({ links }) => links.map(({ name }) => name).join(", "),
  html: ({ links, align }, look) => {
    const style = `color:${look.accent};text-decoration:none;font-weight:600`;
    const all = links.map(
      ({ name, url }) => `<a href="${escaped(url)}" target="_blank" class="a" style="${style}">${escaped(name)}</a>`,
    );
    const dot = '<span class="m" style="color:#6b7280">&nbsp;&nbsp;·&nbsp;&nbsp;</span>';
    return `<p style="margin:0;font-family:${fonts[look.font]};font-size:14px;line-height:22px;text-align:${align}">${all.join(dot)}</p>`;
  },
};

const footer: Kind<"footer"> = {
  label: "Footer",
  start: {
    text: "Your company\n\nYou get this because you have an account.",
    align: "center",
  },
  about: ({ text }) => text,
  html: ({ text, align }, look) =>
    paragraphs(
      text,
      `font-family:${fonts[look.font]};font-size:13px;line-height:20px;color:#616875;text-align:${align}`,
      look.accent,
    ).replaceAll('class="t"', 'class="m"'),
};

const html: Kind<"html"> = {
  label: "HTML",
  start: { code: "<p>Your own HTML.</p>" },
  about: ({ code }) => code,
  html: ({ code }) => code,
};

export const kinds: { [T in BlockType]: Kind<T> } = {
  heading,
  text,
  button,
  image,
  columns,
  divider,
  spacer,
  social,
  footer,
  html,
};

export const types = Object.keys(kinds) as BlockType[];

export const newBlock = (type: BlockType): Block => ({ id: newId(), type, ...kinds[type].start }) as Block;

/** A block and its kind are of one type, which the compiler cannot see. */
const kindOf = ({ type }: Block): Kind<never> => kinds[type] as unknown as Kind<never>;

export const aboutOf = (block: Block): string => kindOf(block).about(block as never);
export const contentOf = (block: Block, look: MailTheme): string => kindOf(block).html(block as never, look);
export const paddingOf = (block: Block): readonly [vertical: number, side: number] => kindOf(block).padding ?? [10, 32];
