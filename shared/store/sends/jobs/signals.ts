// What comes back of a send after it was handed over, for the brake of the send or of the journey's step (F21).

import { LANES } from "../../../rules/step-brake.ts";
import type { StoreReader } from "../../context.ts";
import { changeItem, type ItemWrite } from "../../item.ts";
import { StepSignal } from "../../journeys/step-brake-items.ts";
import { fromJson } from "../../json-text.ts";
import { isOfJourney } from "./job-ids.ts";
import { JobItem, SIGNAL_SHARDS, SignalItem } from "./job-items.ts";

/** Count a bounce, complaint or opt-out, for the transaction that records it. */
export async function signalWrites(
  store: StoreReader,
  job: string,
  subscriber: string,
  signal: "bounced" | "complained" | "opted_out",
): Promise<ItemWrite<"workspace">[]> {
  const digit = Number.parseInt(subscriber.slice(-1), 16) || 0;
  const change = { add: { [signal]: 1 } };
  const ofJob = changeItem(SignalItem, { job, shard: digit % SIGNAL_SHARDS }, change);
  const row = isOfJourney(job) ? await store.get(JobItem, { job }, { eventual: true }) : undefined;
  const step = row?.details && fromJson(row.details).step;
  if (!step || row.source_id === undefined) return [ofJob];
  const { version, id } = step;
  return [ofJob, changeItem(StepSignal, { journey: row.source_id, lane: digit % LANES, version, step: id }, change)];
}
