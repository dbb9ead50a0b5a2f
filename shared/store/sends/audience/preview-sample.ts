// The candidates of an audience that a preview judges (F8).
import type { AudienceRules } from "../../../rules/audience.ts";
import { chunksOf } from "../../../rules/chunks.ts";
import type { StoreReader } from "../../context.ts";
import { pagesOf } from "../../table.ts";
import { rangesOf } from "../chunks/range-names.ts";
import type { JobSpec } from "../jobs/job-spec.ts";
import { candidatesById, candidatesOf, type PlacedCandidate } from "./candidates.ts";

const GIVEN_AT_ONCE = 500;

interface SampleOptions {
  given: readonly string[] | undefined;
  max: number;
  id: string;
}

/** The candidates of an audience, at most about `max` of them. */
export async function sampleOf(
  store: StoreReader,
  spec: JobSpec,
  rules: AudienceRules,
  { given, max, id }: SampleOptions,
): Promise<{ candidates: PlacedCandidate[]; exact: boolean }> {
  const candidates: PlacedCandidate[] = [];
  if (given) {
    for (const ids of chunksOf(given.slice(0, max), GIVEN_AT_ONCE))
      candidates.push(...(await candidatesById(store, ids, rules)));
    return { candidates, exact: given.length <= max };
  }
  for (const range of rangesOf(spec, max)) {
    if (candidates.length >= max) return { candidates, exact: false };
    for await (const page of pagesOf((cursor?: string) => candidatesOf(store, { job: id, range }, cursor, rules))) {
      candidates.push(...page.candidates);
      if (page.next !== undefined && candidates.length >= max) return { candidates, exact: false };
    }
  }
  return { candidates, exact: true };
}
