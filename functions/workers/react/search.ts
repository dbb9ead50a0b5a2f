// Subscribers whose external id, e-mail address or last name changed: they are found by the new ones.
import type { Context } from "../../../shared/kernel/deps.ts";
import { Profile } from "../../../shared/store/subscribers/items.ts";
import { entriesOf } from "../../../shared/store/subscribers/search.ts";
import { searchIndex } from "../../../shared/store/subscribers/search-index.ts";
import { type Change, type Changes, ofTenants } from "./change.ts";

export const searchUses = [searchIndex] as const;

export async function indexNames(changes: Changes, { searchIndex }: Context<typeof searchUses>): Promise<void> {
  const renamed = [...changes.of(Profile, "subscriber"), ...changes.of(Profile, "erasure")].filter(isRenamed);
  for (const [tenant, group] of ofTenants(renamed))
    await searchIndex.update(
      tenant,
      group.flatMap(({ before, after }) => (before ? [before, after] : [after])),
    );
}

/** Its entries differ, or those of an erased one may be there still. */
function isRenamed({ before, after }: Change<typeof Profile>): boolean {
  if (before === undefined || after.erased_at !== undefined) return true;
  return JSON.stringify(entriesOf(before)) !== JSON.stringify(entriesOf(after));
}
