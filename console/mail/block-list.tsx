// The blocks of a mail in their order: moved by dragging or by keys, copied, taken out, and added.
import { useState } from "preact/hooks";
import { say } from "../app/toast.ts";
import { Button } from "../components/button.tsx";
import { type Block, type BlockType, newId } from "./design.ts";
import { aboutOf, kinds, newBlock, types } from "./kinds.ts";

interface ListProps {
  blocks: readonly Block[];
  change: (blocks: readonly Block[]) => void;
  chosen: string | undefined;
  choose: (id: string | undefined) => void;
  /** Chooses it, and moves the focus into its settings. */
  edit: (id: string) => void;
}

/** The list with the block at one place moved to another. */
function moved(blocks: readonly Block[], from: number, to: number): readonly Block[] {
  const block = blocks[from];
  if (!block || to < 0 || to >= blocks.length) return blocks;
  say(`${kinds[block.type].label}: place ${to + 1} of ${blocks.length}`);
  return blocks.filter((_, n) => n !== from).toSpliced(to, 0, block);
}

export function BlockList({ blocks, change, chosen, choose, edit }: ListProps) {
  const [dragged, setDragged] = useState<number>();
  const [over, setOver] = useState<number>();
  const drop = (to: number) => {
    if (dragged !== undefined) change(moved(blocks, dragged, to));
    setDragged(undefined);
    setOver(undefined);
  };
  return (
    <ol class="block-list" aria-label="Blocks">
      {blocks.map((block, n) => (
        <li
          key={block.id}
          class={[block.id === chosen && "is-chosen", over === n && "is-over"].filter(Boolean).join(" ")}
          draggable
          onDragStart={() => setDragged(n)}
          onDragOver={(event) => {
            event.preventDefault();
            setOver(n);
          }}
          onDragEnd={() => setOver(undefined)}
          onDrop={(event) => {
            event.preventDefault();
            drop(n);
          }}
        >
          <button
            type="button"
            aria-pressed={block.id === chosen}
            aria-keyshortcuts="Enter F2 Alt+ArrowUp Alt+ArrowDown Delete"
            onClick={() => choose(block.id)}
            onKeyDown={(event) => {
              const by = { ArrowUp: -1, ArrowDown: 1 }[event.key];
              if (event.altKey && by) {
                event.preventDefault();
                change(moved(blocks, n, n + by));
              }
              if (event.key === "Enter" || event.key === "F2") {
                event.preventDefault();
                edit(block.id);
              }
              if (event.key === "Delete") {
                const { nextElementSibling: next, previousElementSibling: last } = event.currentTarget.parentElement!;
                (next ?? last)?.querySelector("button")?.focus();
                change(blocks.filter((_, at) => at !== n));
              }
            }}
          >
            <b>{kinds[block.type].label}</b>
            <span>{aboutOf(block)}</span>
          </button>
        </li>
      ))}
    </ol>
  );
}

/** What is done with the chosen block beside its settings. */
export function BlockMoves({ blocks, change, chosen, choose }: ListProps) {
  const at = blocks.findIndex(({ id }) => id === chosen);
  const block = blocks[at];
  if (!block) return null;
  const copy = () => {
    const next = { ...block, id: newId() };
    change(blocks.toSpliced(at + 1, 0, next));
    choose(next.id);
  };
  return (
    <div class="actions">
      {at > 0 && (
        <Button kind="quiet" onClick={() => change(moved(blocks, at, at - 1))}>
          Up
        </Button>
      )}
      {at < blocks.length - 1 && (
        <Button kind="quiet" onClick={() => change(moved(blocks, at, at + 1))}>
          Down
        </Button>
      )}
      <Button kind="quiet" onClick={copy}>
        Duplicate
      </Button>
      <Button
        kind="quiet"
        icon="trash"
        label="Remove the block"
        onClick={() => {
          change(blocks.filter(({ id }) => id !== chosen));
          choose(blocks[at + 1]?.id ?? blocks[at - 1]?.id);
        }}
      />
    </div>
  );
}

/** Adds a block after the chosen one. */
export function Palette({ blocks, change, chosen, edit }: ListProps) {
  const add = (type: BlockType) => {
    const block = newBlock(type);
    const at = blocks.findIndex(({ id }) => id === chosen);
    change(blocks.toSpliced(at < 0 ? blocks.length : at + 1, 0, block));
    edit(block.id);
  };
  return (
    <div class="palette-of-blocks">
      {types.map((type) => (
        <Button key={type} icon="plus" onClick={() => add(type)}>
          {kinds[type].label}
        </Button>
      ))}
    </div>
  );
}
