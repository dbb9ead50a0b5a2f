// Edits of two people at once: changes that do not overlap are merged, and the person decides about the others.
import type { ComponentChildren } from "preact";
import { useRef, useState } from "preact/hooks";
import { ServiceError } from "../../sdk/src/errors.ts";
import { isSame, type MergeResult, merge } from "../app/merge.ts";
import { clipped } from "../app/time.ts";
import { say } from "../app/toast.ts";
import { Button } from "./button.tsx";
import { Dialog } from "./dialog.tsx";
import { Failure } from "./states.tsx";
import { Table } from "./table.tsx";

/** What the service has, with its version. */
interface VersionedBody<B> {
  body: B;
  version: number | undefined;
}

/** What a read of the service returns, in the form of an editor, with its version. */
export async function seenBy<T, B>(
  read: (options: { onVersion: (version: number) => void }) => Promise<T>,
  bodyOf: (found: T) => B,
): Promise<VersionedBody<B>> {
  let version: number | undefined;
  const found = await read({
    onVersion: (found) => {
      version = found;
    },
  });
  return { body: bodyOf(found), version };
}

interface Guard<B> {
  /** What may be saved, over which version; undefined if the person gave up or the read failed. */
  settle(mine: B): Promise<{ body: B; over: { ifVersion?: number } } | undefined>;
  /** The saved body: the next change begins with it. */
  saved(body: B): void;
  /** The open question, or the error of the read. */
  question: ComponentChildren;
}

interface ConflictQuestion {
  merged: MergeResult;
  answer: (chosen: unknown) => void;
}

/**
 * @param begun the body before the first change; undefined for a new entity
 * @param read what the service has now, in the same form
 */
export function useGuard<B extends object>(begun: B | undefined, read: () => Promise<VersionedBody<B>>): Guard<B> {
  const base = useRef(begun);
  const isSettling = useRef(false);
  const [asked, setAsked] = useState<ConflictQuestion>();
  const [failed, setFailed] = useState<ServiceError>();

  const askWhich = (merged: MergeResult) =>
    new Promise<unknown>((resolve) => {
      const answer = (chosen: unknown) => {
        setAsked(undefined);
        resolve(chosen);
      };
      setAsked({ merged, answer });
    });

  /** @returns undefined where the person gives up */
  const combine = async (original: B, mine: B, theirs: B): Promise<B | undefined> => {
    if (isSame(theirs, original)) return mine;

    const merged = merge(original, mine, theirs);
    // A merge of two bodies is a body, hence the casts.
    if (merged.overlaps.length > 0) return (await askWhich(merged)) as B | undefined;
    if (!isSame(merged.mine, mine)) say("Somebody else saved meanwhile: both changes are kept.");
    return merged.mine as B;
  };

  const settle: Guard<B>["settle"] = async (mine) => {
    if (!base.current) return { body: mine, over: {} };
    // A second click while the first is compared.
    if (isSettling.current) return undefined;

    isSettling.current = true;
    setFailed(undefined);
    try {
      const theirs = await read();
      const body = await combine(base.current, mine, theirs.body);
      // A third person between this read and the save is refused.
      return body && { body, over: theirs.version === undefined ? {} : { ifVersion: theirs.version } };
    } catch (cause) {
      if (!(cause instanceof ServiceError)) throw cause;
      setFailed(cause);
      return undefined;
    } finally {
      isSettling.current = false;
    }
  };

  const saved = (body: B) => {
    base.current = body;
  };

  return { settle, saved, question: asked ? <Question {...asked} /> : failed && <Failure error={failed} /> };
}

const MAX_SHOWN = 160;

function textOf(value: unknown): string {
  if (value === undefined) return "–";
  return clipped(typeof value === "string" ? value : JSON.stringify(value), MAX_SHOWN);
}

function Question({ merged: { mine, theirs, overlaps }, answer }: ConflictQuestion) {
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
