// Who would enter and leave the segments of a plan.
import type { Connection } from "../connection.ts";
import type { Step } from "./plan.ts";

const MAX_NAMED = 5;

interface Side {
  estimated_count: number;
  sample_subscriber_ids: string[];
}

export interface Movement {
  key: string;
  entering: { count: number; sample: string[] };
  leaving: { count: number; sample: string[] };
  exact: boolean;
}

/** One entry for each segment whose rule is new or differs. @param begin called before each */
export async function movementsOf(
  connection: Connection,
  steps: readonly Step[],
  begin: (step: Step) => void,
): Promise<Movement[]> {
  const changing = steps.filter(
    ({ kind, action, changes }) =>
      kind.name === "segments" && (action === "create" || (action === "update" && changes.includes("rule"))),
  );
  const movements: Movement[] = [];
  for (const step of changing) {
    const { key, id, document } = step;
    begin(step);
    const answer =
      id === undefined
        ? { entering: await connection.call("segments.preview", document.rule), leaving: NOBODY }
        : await connection.call("segments.compare", id, { rule: document.rule });
    const { entering, leaving } = answer as unknown as { entering: Side; leaving: Side };
    const exact = (answer.exact ?? (entering as { exact?: boolean }).exact) === true;
    movements.push({
      key,
      entering: await named(connection, entering),
      leaving: await named(connection, leaving),
      exact,
    });
  }
  return movements;
}

const NOBODY: Side = { estimated_count: 0, sample_subscriber_ids: [] };

/** With the ids of the user's own system for the first ones. */
async function named({ client }: Connection, { estimated_count: count, sample_subscriber_ids: ids }: Side) {
  const sample = await Promise.all(
    ids.slice(0, MAX_NAMED).map(async (id) => (await client.subscribers.get(id)).external_id),
  );
  return { count, sample };
}
