// Before an editor overwrites what another person saved meanwhile: what does not overlap is merged, the rest is asked.
import type { ComponentChildren } from "preact";
import { useRef, useState } from "preact/hooks";
import { ServiceError } from "../../sdk/src/errors.ts";
import { isSame, type Merged, merge } from "../app/merge.ts";
import { say } from "../app/toast.ts";
import { Button } from "./button.tsx";
import { Dialog } from "./dialog.tsx";
import { Table } from "./table.tsx";

export interface Guard<B> {
  /** What may be saved; undefined where the person gave up. */
  settle(mine: B): Promise<B | undefined>;
  /** What the service has now: the next change begins with it. */
  saved(body: B): void;
  /** The question, while it is asked. */
  question: ComponentChildren;
}

interface Asked {
  merged: Merged;
  answer: (chosen: unknown) => void;
}

/**
 * @param begun what the editor began with, as it would be saved; undefined for what is new
 * @param read what the service has now, in the same form
 */
export function useGuard<B extends object>(begun: B | undefined, read: () => Promise<B>): Guard<B> {
  const base = useRef(begun);
  const [asked, setAsked] = useState<Asked>();
  const ask = (merged: Merged) =>
    new Promise<unknown>((resolve) => {
      const answer = (chosen: unknown) => {
        setAsked(undefined);
        resolve(chosen);
      };
      setAsked({ merged, answer });
    });
  const settle = async (mine: B): Promise<B | undefined> => {
    if (!base.current) return mine;
    const theirs = await current(read);
    if (!theirs || isSame(theirs, base.current)) return mine;
    const merged = merge(base.current, mine, theirs);
    // A merge of two bodies is a body, hence the casts.
    if (merged.overlaps.length > 0) return (await ask(merged)) as B | undefined;
    if (!isSame(merged.mine, mine)) say("Somebody else saved meanwhile: both changes are kept.");
    return merged.mine as B;
  };
  const saved = (body: B) => {
    base.current = body;
  };
  return { settle, saved, question: asked && <Question {...asked} /> };
}

/** Undefined where it cannot be read: the save that follows is refused for the same reason, and says it. */
async function current<B>(read: () => Promise<B>): Promise<B | undefined> {
  try {
    return await read();
  } catch (cause) {
    if (!(cause instanceof ServiceError)) throw cause;
    return undefined;
  }
}

const MAX_SHOWN = 160;

function textOf(value: unknown): string {
  if (value === undefined) return "–";
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;
}

function Question({ merged: { mine, theirs, overlaps }, answer }: Asked) {
  return (
    <Dialog title="Somebody else saved meanwhile" close={() => answer(undefined)}>
      <p>What only one of you changed is kept from both. This is what both of you changed:</p>
      <Table
        caption="What both changed"
        rows={overlaps}
        keyOf={({ path }) => path}
        columns={[
          { title: "Field", cell: ({ path }) => path },
          { title: "Theirs", cell: (one) => textOf(one.theirs) },
          { title: "Yours", cell: (one) => textOf(one.mine) },
        ]}
      />
      <div class="actions end">
        <Button onClick={() => answer(undefined)}>Cancel</Button>
        <Button onClick={() => answer(theirs)}>Keep theirs</Button>
        <Button kind="primary" onClick={() => answer(mine)}>
          Keep yours
        </Button>
      </div>
    </Dialog>
  );
}
