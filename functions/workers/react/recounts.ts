// Workspaces whose subscribers, memberships or sends changed: their counters are recounted in the following night.
import type { Clock } from "../../../shared/kernel/clock.ts";
import type { Context } from "../../../shared/kernel/deps.ts";
import { MemberLeaf, SegmentMembership } from "../../../shared/store/lists/items.ts";
import { nightlyRecounts } from "../../../shared/store/nightly-recounts.ts";
import { JobItem } from "../../../shared/store/sends/jobs/job-items.ts";
import { ImportItem } from "../../../shared/store/subscribers/import-items.ts";
import { Profile } from "../../../shared/store/subscribers/items.ts";
import { type Changes, isNew } from "./change.ts";

export const recountUses = [nightlyRecounts] as const;

export async function planRecounts(
  changes: Changes,
  { nightlyRecounts: recounts }: Context<typeof recountUses> & { clock: Clock },
): Promise<void> {
  const counted = [
    ...changes.of(Profile, "subscriber").filter(isNew),
    ...changes.of(Profile, "erasure"),
    ...changes.of(SegmentMembership, "membership"),
    ...changes.of(MemberLeaf, "leaf"),
    ...changes.of(ImportItem, "import"),
    ...changes.of(JobItem, "job").filter(isNew),
  ];
  await recounts.plan(counted.map(({ tenant }) => tenant));
}
