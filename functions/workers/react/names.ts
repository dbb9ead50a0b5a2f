// Attribute keys that no subscriber had before, for the rule editor.
import type { Context } from "../../../shared/deps.ts";
import { attributeKeys } from "../../../shared/resources.ts";
import { attributeKeysOf } from "../../../shared/store/subscribers/subscribers.ts";
import type { Changes } from "./change.ts";

export const nameUses = [attributeKeys] as const;

export async function learnAttributeKeys(changes: Changes, { attributeKeys }: Context<typeof nameUses>): Promise<void> {
  const byTenant = Map.groupBy(changes.of("subscriber"), ({ tenant }) => tenant);
  for (const [tenant, group] of byTenant)
    await attributeKeys.learn(
      tenant,
      group.flatMap(({ after }) => attributeKeysOf(after)),
    );
}
