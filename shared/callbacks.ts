// Whose channel a provider calls back about: its path names the channel alone, so a row says the workspace.
import type { Capability, Parts } from "./parts.ts";
import { absent, any, is } from "./store/conditions.ts";
import { platform as keys } from "./store/keys.ts";
import type { TenantId } from "./store/model.ts";
import { refused } from "./store/refusals.ts";
import { openTable } from "./store/table.ts";

export interface Callbacks {
  /** Before the credentials that callbacks need: alone it is harmless. */
  remember(channel: string): Promise<void>;
  forget(channel: string): Promise<void>;
}

const openRows = (parts: Parts) => openTable(parts)((pk) => pk.startsWith("CALLBACK#"));

export const callbacks: Capability<"callbacks", Callbacks> = {
  as: "callbacks",
  env: ["TABLE_NAME"],
  grants: [{ actions: ["dynamodb:PutItem", "dynamodb:DeleteItem"], on: "table" }],
  open: (parts) => {
    const rows = openRows(parts);
    return (tenant) => ({
      remember: (channel) =>
        rows
          .put({ ...keys.callback(channel), tenant }, any(absent(), is("tenant", tenant)))
          .catch(refused(() => undefined)),
      forget: async (channel) => {
        await rows.remove(keys.callback(channel), any(absent(), is("tenant", tenant))).catch(refused(() => undefined));
      },
    });
  },
};

/** The workspace that a channel's callbacks belong to; it has no credential but the provider's signature. */
export const callbackOwner: Capability<"ownerOf", (channel: string) => Promise<TenantId | undefined>> = {
  as: "ownerOf",
  env: ["TABLE_NAME"],
  grants: [{ actions: ["dynamodb:GetItem"], on: "table" }],
  open: (parts) => {
    const rows = openRows(parts);
    return () => async (channel) => {
      const row = await rows.get(keys.callback(channel));
      return row && (String(row.tenant) as TenantId);
    };
  },
};
