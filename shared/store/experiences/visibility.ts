// Which messages of experiences are to be seen now. The state lies with the experience, in one small row, and is looked
// up when messages are read: hiding, showing and recalling cost the same however many have them (docs/decisions/0009).
import type { StoreReader } from "../../resources.ts";
import { isShown } from "../../rules/experience-states.ts";
import { keys } from "../keys.ts";
import type { Item } from "../model.ts";

export interface Visibility {
  /** Looks up the experiences that these message rows belong to, each once. */
  look(rows: readonly Item[]): Promise<void>;
  /** Whether a message that was looked at is to be seen. */
  shows(row: Item): boolean;
  /** The experiences that were found not to be shown. */
  hidden(): string[];
}

export function visibilityIn(store: StoreReader): Visibility {
  const shown = new Map<string, boolean>();
  return {
    look: async (rows) => {
      const ids = [
        ...new Set(rows.flatMap(({ experience }) => (experience === undefined ? [] : [String(experience)]))),
      ];
      const unknown = ids.filter((id) => !shown.has(id));
      if (unknown.length === 0) return;
      const states = await store.getAll(unknown.map((id) => keys.listed(store.tenant, "experience", id)));
      for (const [i, id] of unknown.entries()) shown.set(id, isShown(states[i]?.status));
    },
    shows: ({ experience }) => experience === undefined || shown.get(String(experience)) === true,
    hidden: () => [...shown].flatMap(([id, isSeen]) => (isSeen ? [] : [id])),
  };
}
