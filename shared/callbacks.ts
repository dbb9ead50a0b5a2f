// Whose channel a provider calls back about: its path names the channel alone, so a row says the workspace.
import type { Capability, Parts } from "./parts.ts";
import { type Store, storeWrite } from "./resources.ts";
import { absent, any, is } from "./store/conditions.ts";
import { platform as keys } from "./store/keys.ts";
import type { TenantId } from "./store/model.ts";
import { refused } from "./store/refusals.ts";
import { openTable } from "./store/table.ts";
import { type Opener, vaultOpening } from "./vault.ts";

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

export interface CalledWorkspace {
  store: Store;
  vault: Opener;
}

/** The workspace that a channel's callbacks are about. Its only credential is the provider's signature: check it first. */
export const calledWorkspace: Capability<"calledWorkspace", (channel: string) => Promise<CalledWorkspace | undefined>> =
  {
    as: "calledWorkspace",
    env: ["TABLE_NAME"],
    grants: [...storeWrite.grants, ...vaultOpening.grants],
    open: (parts) => {
      const rows = openRows(parts);
      const storeOf = storeWrite.open(parts);
      const vaultOf = vaultOpening.open(parts);
      return () => async (channel) => {
        const row = await rows.get(keys.callback(channel));
        if (!row) return undefined;
        const tenant = String(row.tenant) as TenantId;
        return { store: storeOf(tenant), vault: vaultOf(tenant) };
      };
    },
  };
