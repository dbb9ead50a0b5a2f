// Attribute keys that no subscriber had before, for the rule editor.
import type { Context } from "../../../shared/kernel/deps.ts";
import { attributeKeys } from "../../../shared/store/capabilities.ts";
import { Profile } from "../../../shared/store/subscribers/items.ts";
import { attributeKeysOf } from "../../../shared/store/subscribers/subscribers.ts";
import { type Changes, ofTenants } from "./change.ts";

export const nameUses = [attributeKeys] as const;

export async function learnAttributeKeys(changes: Changes, { attributeKeys }: Context<typeof nameUses>): Promise<void> {
  for (const [tenant, group] of ofTenants(changes.of(Profile, "subscriber")))
    await attributeKeys.learn(
      tenant,
      group.flatMap(({ after }) => attributeKeysOf(after)),
    );
}
