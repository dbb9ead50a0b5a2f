// A journey as the API shows it.
import { replyWith } from "../../../shared/http/endpoint.ts";
import type { EntryRules, Graph } from "../../../shared/rules/journey-graph.ts";
import { attributeKeysIn } from "../../../shared/rules/journey-paths.ts";
import type { StoreReader } from "../../../shared/store/context.ts";
import type { Journey } from "../../../shared/store/journeys/journeys.ts";
import { unknownKeys } from "../../../shared/store/subscribers/unknown-keys.ts";

/** JNY-6: only the list has the numbers of runs. */
export const withNumbers = (journey: Journey, { entered, completed } = { entered: 0, completed: 0 }) => ({
  ...journey,
  entered,
  completed,
});

/** With the keys of its rules that no subscriber has (AMB-148). */
export async function warned(store: StoreReader, journey: Journey) {
  const keys = attributeKeysIn(journey.entry_rules as EntryRules | null, journey.steps as Partial<Graph>);
  return { ...withNumbers(journey), ...(await unknownKeys(store, keys)) };
}

/** With its version as its entity tag. */
export const tagged = async (store: StoreReader, journey: Journey) =>
  replyWith(200, await warned(store, journey), { etag: `"${journey.version}"` });
