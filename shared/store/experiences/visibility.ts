// Whether messages of experiences are shown. The status of an experience is one small row, read with its messages: a
// pause, a resume and a recall cost the same for any number of messages (docs/decisions/0009).
import { isShown } from "../../rules/experience-states.ts";
import type { StoreReader } from "../context.ts";
import { Status } from "../status-index.ts";

/** A message that may belong to an experience. */
interface Message {
  experience?: string | undefined;
}

export interface Visibility {
  /** Looks up the experiences of these messages, each once. */
  look(messages: readonly Message[]): Promise<void>;
  /** Whether a message that was looked up is shown. */
  shows(message: Message): boolean;
  /** The experiences that were looked up and are not shown. */
  hidden(): string[];
}

/** Which messages of experiences are shown, by the status of their experience. Each experience is looked up once. */
export function visibilityIn(store: StoreReader): Visibility {
  const shown = new Map<string, boolean>();
  return {
    look: async (messages) => {
      const ids = new Set(messages.flatMap(({ experience }) => experience ?? []));
      const unknown = [...ids].filter((id) => !shown.has(id));
      if (unknown.length === 0) return;
      const keys = unknown.map((id) => ({ kind: "experience" as const, id }));
      const rows = await store.getAll(Status, keys);
      const now = store.clock.now();
      for (const [i, id] of unknown.entries()) shown.set(id, rows[i] !== undefined && isShown(rows[i], now));
    },
    shows: ({ experience }) => experience === undefined || shown.get(experience) === true,
    hidden: () => [...shown].flatMap(([id, isSeen]) => (isSeen ? [] : [id])),
  };
}
