// The ten blocks, in the order of the palette.
import { button } from "./blocks/button.ts";
import { columns } from "./blocks/columns.ts";
import { divider } from "./blocks/divider.ts";
import { footer } from "./blocks/footer.ts";
import { heading } from "./blocks/heading.ts";
import { html } from "./blocks/html.ts";
import { image } from "./blocks/image.ts";
import { social } from "./blocks/social.ts";
import { spacer } from "./blocks/spacer.ts";
import { text } from "./blocks/text.ts";
import { type Block, type BlockType, type Kind, type Look, newId } from "./design.ts";

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
export const contentOf = (block: Block, look: Look): string => kindOf(block).html(block as never, look);
export const paddingOf = (block: Block): readonly [vertical: number, side: number] => kindOf(block).padding ?? [10, 32];
