// The block in which a refused text stands: the service says its line and column in the HTML.
import type { Design } from "./design.ts";
import { kinds } from "./kinds.ts";
import { blockAt, mailHtml } from "./mail.ts";

export interface RefusedBlock {
  id: string;
  /** `Text, block 3 of 7`. */
  name: string;
  reason: string;
}

const PLACE = /, line:(\d+), col:(\d+)$/;

/** Undefined where it stands in no block, or the HTML is not of this design as the editor makes it now. */
export function blockOf(design: Design, html: string, reason: string): RefusedBlock | undefined {
  const [place, line, column] = PLACE.exec(reason) ?? [];
  if (place === undefined || html !== mailHtml(design)) return undefined;
  const above = html.split("\n").slice(0, Number(line) - 1);
  const at = above.reduce((sum, { length }) => sum + length + 1, 0) + Number(column) - 1;
  const n = blockAt(design, at);
  const block = design.blocks[n];
  if (!block) return undefined;
  const name = `${kinds[block.type].label}, block ${n + 1} of ${design.blocks.length}`;
  return { id: block.id, name, reason: reason.slice(0, -place.length) };
}
