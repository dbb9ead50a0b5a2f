// The subset of XML that S3 uses: elements without attributes, text escaped, repeated elements as lists.
export type Xml = string | number | boolean | undefined | Xml[] | { [name: string]: Xml };

const NAMESPACE = "http://s3.amazonaws.com/doc/2006-03-01/";
const escapes: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\r": "&#13;" };
const entities: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

/** A whole document; undefined members are left out. */
export function xmlOf(root: string, content: Xml, { namespace = true } = {}): string {
  const attribute = namespace ? ` xmlns="${NAMESPACE}"` : "";
  return `<?xml version="1.0" encoding="UTF-8"?>\n<${root}${attribute}>${inner(content)}</${root}>`;
}

function inner(content: Xml): string {
  if (content === undefined) return "";
  if (typeof content !== "object") return String(content).replace(/[&<>"\r]/g, (character) => escapes[character]!);
  if (Array.isArray(content)) return content.map(inner).join("");
  return Object.entries(content)
    .flatMap(([name, value]) => (Array.isArray(value) ? value : [value]).map((one) => element(name, one)))
    .join("");
}

const element = (name: string, value: Xml): string => (value === undefined ? "" : `<${name}>${inner(value)}</${name}>`);

export interface XmlElement {
  name: string;
  text: string;
  children: XmlElement[];
}

/** The root element of a document. @throws a SyntaxError. */
export function readXml(source: string): XmlElement {
  const top: XmlElement = { name: "", text: "", children: [] };
  const open = [top];
  const token = /<\?[^>]*\?>|<!--[\s\S]*?-->|<(\/?)([\w:.-]+)([^<>]*?)(\/?)>|([^<]+)/g;
  let end = 0;
  for (let match = token.exec(source); match; match = token.exec(source)) {
    if (match.index !== end) throw new SyntaxError("not well-formed");
    end = token.lastIndex;
    const [, closing, name, , empty, text] = match;
    const current = open.at(-1)!;
    if (text !== undefined) current.text += unescapeText(text);
    else if (name === undefined) continue;
    else if (closing) {
      if (open.length === 1 || current.name !== name) throw new SyntaxError(`unexpected </${name}>`);
      open.pop();
    } else {
      const child: XmlElement = { name, text: "", children: [] };
      current.children.push(child);
      if (!empty) open.push(child);
    }
  }
  const [root] = top.children;
  if (end !== source.length || open.length > 1 || !root || top.children.length > 1)
    throw new SyntaxError("not well-formed");
  return root;
}

export const textOf = (parent: XmlElement, name: string): string | undefined =>
  parent.children.find((child) => child.name === name)?.text;

function unescapeText(text: string): string {
  return text.replace(/&(#x?[0-9a-fA-F]+|\w+);/g, (whole, name: string) => {
    if (!name.startsWith("#")) return entities[name] ?? whole;
    const code = name[1] === "x" ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1));
    return String.fromCodePoint(code);
  });
}
