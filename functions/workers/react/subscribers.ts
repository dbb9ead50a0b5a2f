// Follows changes of subscribers: the index of attribute keys, the search, and the counters.
import type { Clock } from "../../../shared/kernel/clock.ts";
import type { Context } from "../../../shared/kernel/deps.ts";
import { attributeKeys } from "../../../shared/store/capabilities.ts";
import { type Change, type Changes, isNew, ofTenants } from "../../../shared/store/changes.ts";
import { MemberLeaf, SegmentMembership } from "../../../shared/store/lists/items.ts";
import { nightlyRecounts } from "../../../shared/store/nightly-recounts.ts";
import { JobItem } from "../../../shared/store/sends/jobs/job-items.ts";
import { ImportItem } from "../../../shared/store/subscribers/import-items.ts";
import { Profile } from "../../../shared/store/subscribers/items.ts";
import { entriesOf } from "../../../shared/store/subscribers/search.ts";
import { searchIndex } from "../../../shared/store/subscribers/search-index.ts";
import { attributeKeysOf } from "../../../shared/store/subscribers/subscribers.ts";

export const nameUses = [attributeKeys] as const;

export async function learnAttributeKeys(changes: Changes, { attributeKeys }: Context<typeof nameUses>): Promise<void> {
  for (const [tenant, group] of ofTenants(changes.of(Profile, "subscriber"))) {
    const keys = group.flatMap(({ after }) => attributeKeysOf(after));
    await attributeKeys.learn(tenant, keys);
  }
}

export const searchUses = [searchIndex] as const;

export async function indexNames(changes: Changes, { searchIndex }: Context<typeof searchUses>): Promise<void> {
  const renamed = [...changes.of(Profile, "subscriber"), ...changes.of(Profile, "erasure")].filter(isRenamed);
  for (const [tenant, group] of ofTenants(renamed)) {
    const profiles = group.flatMap(({ before, after }) => (before ? [before, after] : [after]));
    await searchIndex.update(tenant, profiles);
  }
}

/** Whether its search entries differ, or those of an erased subscriber may still exist. */
function isRenamed({ before, after }: Change<typeof Profile>): boolean {
  if (before === undefined || after.erased_at !== undefined) return true;
  return JSON.stringify(entriesOf(before)) !== JSON.stringify(entriesOf(after));
}

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
