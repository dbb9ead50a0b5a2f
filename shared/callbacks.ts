// Whose channel a provider calls back about: its path names the channel alone, so a row says the workspace.
import type { Capability, Deps } from "./deps.ts";
import { type Store, storeWrite } from "./resources.ts";
import { absent, any, is } from "./store/conditions.ts";
import { platformKeys } from "./store/keys.ts";
import type { TenantId } from "./store/model.ts";
import { onConditionFailed } from "./store/refusals.ts";
import { openPlatformTable } from "./store/table.ts";
import { type Opener, vaultOpening } from "./vault.ts";

export interface Callbacks {
  /** Before the credentials that callbacks need: alone it is harmless. */
  remember(channel: string): Promise<void>;
  forget(channel: string): Promise<void>;
}

const openCallbacks = (deps: Deps) => openPlatformTable(deps, "CALLBACK#");

export const callbacks: Capability<"callbacks", Callbacks> = {
  as: "callbacks",
  env: ["TABLE_NAME"],
  grants: [{ actions: ["dynamodb:PutItem", "dynamodb:DeleteItem"], on: "table" }],
  open: (deps) => {
    const rows = openCallbacks(deps);
    return (tenant) => ({
      remember: (channel) =>
        rows
          .put({ ...platformKeys.callback(channel), tenant }, any(absent(), is("tenant", tenant)))
          .catch(onConditionFailed(() => undefined)),
      forget: async (channel) => {
        await rows
          .remove(platformKeys.callback(channel), any(absent(), is("tenant", tenant)))
          .catch(onConditionFailed(() => undefined));
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
    open: (deps) => {
      const rows = openCallbacks(deps);
      const storeOf = storeWrite.open(deps);
      const vaultOf = vaultOpening.open(deps);
      return () => async (channel) => {
        const row = await rows.get(platformKeys.callback(channel));
        if (!row) return undefined;
        const tenant = String(row.tenant) as TenantId;
        return { store: storeOf(tenant), vault: vaultOf(tenant) };
      };
    },
  };
