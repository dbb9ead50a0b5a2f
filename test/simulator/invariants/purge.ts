// 30 days after its deletion nothing is left of a workspace but its tombstone; one that was restored in time is whole.
import { rowOf } from "../../../shared/store/item.ts";
import { Profile } from "../../../shared/store/subscribers/items.ts";
import { isLiving } from "../../../shared/store/subscribers/subscribers.ts";
import { WorkspaceItem } from "../../../shared/store/workspaces/items.ts";
import { inboxRow, isJob, placeOf } from "../entities.ts";
import type { Invariant } from "../invariant.ts";

export const purge: Invariant = {
  name: "purge",
  watch: ({ ledger, mirror }, broken) => ({
    commit: ({ pk, sk, before, after }) => {
      const tenant = placeOf(pk)?.tenant ?? "";
      if (!before || after || ledger.deleted.has(tenant)) return;
      const isErased = (ledger.people.get(inboxRow(pk, sk)?.subscriber ?? "")?.erasingSince ?? 0) > 0;
      if (isJob(pk) || (inboxRow(pk, sk) && !isErased)) broken(`${pk} ${sk} of a workspace in use is gone`, sk, tenant);
    },
    end: () => {
      for (const tenant of ledger.deleted.keys()) {
        const own = WorkspaceItem.pk({ tenant });
        if (mirror.get(own, own)?.purged_at === undefined) broken(`workspace ${tenant} was not purged`, tenant);
        for (const pk of mirror.partitions())
          for (const [sk, item] of mirror.under(pk)) {
            const isTombstone = pk === own || pk === "WORKSPACES" || item.kind === "purge";
            if (!isTombstone && JSON.stringify(item).includes(tenant))
              broken(`${pk} ${sk} is left of workspace ${tenant}`, tenant);
          }
      }
      for (const { id, tenant, erasingSince } of ledger.people.values()) {
        if (ledger.deleted.has(tenant) || erasingSince !== undefined) continue;
        const row = mirror.get(`T#${tenant}#${Profile.pk({ id })}`, id);
        if (!row || !isLiving(rowOf(Profile, row))) broken(`subscriber ${id} is gone`, id, tenant);
      }
    },
  }),
};
