// What is said of a campaign that is released: the keys of its audience that no subscriber has (AMB-148).
import { compileRule } from "../../../shared/rules/segment-evaluation.ts";
import type { Campaign } from "../../../shared/store/campaigns/campaigns.ts";
import type { StoreReader } from "../../../shared/store/context.ts";
import { fromJson } from "../../../shared/store/json-text.ts";
import { findSegment } from "../../../shared/store/segments/segments.ts";
import { unknownKeys } from "../../../shared/store/subscribers/unknown-keys.ts";

/** The keys of the rule of a segment that is sent to which no subscriber has (AMB-148). */
export async function unknownKeysOfTarget(store: StoreReader, target: Campaign["target"]) {
  const segment = target.type === "segment" ? await findSegment(store, target.segment_id) : undefined;
  return segment ? unknownKeys(store, compileRule(fromJson(segment.rule)).keys) : {};
}
