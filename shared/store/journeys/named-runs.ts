// The runs of a journey with the names of their resources (F2).
import * as v from "valibot";
import { Named, NamedPerson } from "../../contract/named.ts";
import { said } from "../../contract/schemas.ts";
import type { StoreReader } from "../context.ts";
import { idKeys } from "../item.ts";
import { SegmentItem } from "../segments/items.ts";
import { displayName, getProfiles } from "../subscribers/subscribers.ts";
import type { Journey } from "./journeys.ts";
import { Run } from "./runs.ts";

export const NamedRun = v.object({
  ...Run.entries,
  journey: said("The journey of the run", Named),
  subscriber: said("Whose run it is; nameless once erased", NamedPerson),
  segment: said("The segment that was entered, or left, where that started it", v.optional(Named)),
});
export type NamedRun = v.InferOutput<typeof NamedRun>;

export async function withNames<R extends Run>(
  store: StoreReader,
  { id, name }: Pick<Journey, "id" | "name">,
  runs: readonly R[],
): Promise<(R & NamedRun)[]> {
  const people = [...new Set(runs.map(({ subscriber_id }) => subscriber_id))];
  const segments = [...new Set(runs.flatMap(({ context }) => context.segment_id ?? []))];
  const [profiles, rules] = await Promise.all([
    getProfiles(store, people, { eventual: true }),
    store.getAll(SegmentItem, idKeys(segments), { eventual: true }),
  ]);
  const names = new Map([
    ...people.map((subscriber, i) => [subscriber, profiles[i] && displayName(profiles[i])] as const),
    ...segments.map((segment, i) => [segment, rules[i]?.name] as const),
  ]);
  const named = (of: string) => ({ id: of, name: names.get(of) ?? null });
  return runs.map((run) => ({
    ...run,
    journey: { id, name },
    subscriber: named(run.subscriber_id),
    ...(run.context.segment_id && { segment: named(run.context.segment_id) }),
  }));
}
