// The subscribers who would enter and leave the segments of a plan.
import type { SegmentsCompareAnswer, SegmentsPreviewAnswer } from "../../types.gen.ts";
import type { Connection } from "../connection.ts";
import type { Step } from "./plan.ts";

const MAX_NAMED = 5;

type Side = SegmentsCompareAnswer["entering"];

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
    begin(step);
    const { entering, leaving, exact } = await comparisonOf(connection, step);
    movements.push({
      key: step.key,
      entering: await named(connection, entering),
      leaving: await named(connection, leaving),
      exact,
    });
  }
  return movements;
}

type Comparison = Pick<SegmentsCompareAnswer, "entering" | "leaving" | "exact">;

const NOBODY: Side = { estimated_count: 0, sample_subscriber_ids: [] };

/** All members of a new segment enter it. An operation that is called by its name returns the type of this name, hence the casts. */
async function comparisonOf(connection: Connection, { id, document: { rule } }: Step): Promise<Comparison> {
  if (id !== undefined)
    return (await connection.call("segments.compare", id, { rule })) as unknown as SegmentsCompareAnswer;
  const entering = (await connection.call("segments.preview", rule)) as unknown as SegmentsPreviewAnswer;
  return { entering, leaving: NOBODY, exact: entering.exact };
}

/** Adds external ids to the first subscribers. */
async function named({ client }: Connection, { estimated_count: count, sample_subscriber_ids: ids }: Side) {
  const sample = await Promise.all(
    ids.slice(0, MAX_NAMED).map(async (id) => (await client.subscribers.get(id)).external_id),
  );
  return { count, sample };
}
