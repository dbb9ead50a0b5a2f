// The blocks of Handlebars in a text, as a tree: which tags belong together is known before anything is translated.

export type Node =
  | { kind: "text"; text: string }
  | { kind: "tag"; whole: string; inner: string }
  | { kind: "block"; whole: string; name: string; args: string; inner: Node[]; otherwise: Otherwise | undefined };

/** `{{else}}`, or `{{else if X}}`, which is a block in the place of an else. */
type Otherwise = { kind: "else"; nodes: Node[] };

interface Open {
  whole: string;
  name: string;
  args: string;
  inner: Node[];
  otherwise: Node[] | undefined;
  /** Blocks that `{{else if}}` opened: one end closes them all. */
  chained: boolean;
}

/** A comment between dashes may hold tags. */
const TAG = /\{\{~?!--[\s\S]*?--~?\}\}|\{\{\{?\s*([^{}]+?)\s*\}?\}\}/g;
const OPENING = /^#\s*(\w+)\s*(.*)$/s;
const CHAINING = /^else\s+(\w+)\s+(.+)$/s;

/** @returns the nodes of a text; a block that is never closed is a tag, followed by what it holds */
export function nodesOf(text: string): Node[] {
  const nodes: Node[] = [];
  const open: Open[] = [];
  const here = () => {
    const block = open.at(-1);
    return block ? (block.otherwise ?? block.inner) : nodes;
  };
  const close = () => {
    const block = open.pop();
    if (!block) return;
    const { whole, name, args, inner, otherwise } = block;
    here().push({
      kind: "block",
      whole,
      name,
      args,
      inner,
      otherwise: otherwise && { kind: "else", nodes: otherwise },
    });
  };
  const push = (whole: string, name: string, args: string, chained: boolean) =>
    open.push({ whole, name, args, inner: [], otherwise: undefined, chained });

  let at = 0;
  for (const { 0: whole, 1: written = "!", index } of text.matchAll(TAG)) {
    // `{{~` would remove the blanks beside the tag. They stay, which no reader notices.
    const inner = written.replace(/^~\s*|\s*~$/g, "");
    if (index > at) here().push({ kind: "text", text: text.slice(at, index) });
    at = index + whole.length;
    const [, name, args = ""] = OPENING.exec(inner) ?? [];
    const [, chainedName, chainedArgs = ""] = CHAINING.exec(inner) ?? [];
    const current = open.at(-1);
    if (name !== undefined) push(whole, name, args.trim(), false);
    else if (current && !current.otherwise && (inner === "else" || inner === "^")) current.otherwise = [];
    else if (current && !current.otherwise && chainedName !== undefined) {
      current.otherwise = [];
      push(whole, chainedName, chainedArgs.trim(), true);
    } else if (inner.startsWith("/") && open.some((block) => !block.chained && block.name === inner.slice(1).trim())) {
      while (open.at(-1)?.chained) close();
      close();
    } else here().push({ kind: "tag", whole, inner });
  }
  if (at < text.length) here().push({ kind: "text", text: text.slice(at) });
  return [...nodes, ...open.flatMap(unclosed)];
}

const unclosed = ({ whole, args, name, inner, otherwise = [] }: Open): Node[] => [
  { kind: "tag", whole, inner: `#${name} ${args}` },
  ...inner,
  ...otherwise,
];
