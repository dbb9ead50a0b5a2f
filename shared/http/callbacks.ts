// The workspace of a provider's callback: the path names only the channel, so a row maps it to the workspace.
import { type Capability, type Deps, perEnvironment } from "../kernel/deps.ts";
import { absent, any, is } from "../store/conditions.ts";
import { type Store, storeWrite } from "../store/context.ts";
import { CallbackItem } from "../store/platform-items.ts";
import { whereItHolds } from "../store/refusals.ts";
import { bindAnywhere } from "../store/sandbox/sandbox.ts";
import { openPlatformTable } from "../store/table.ts";
import { type Opener, vaultOpening } from "../store/vault.ts";

interface Callbacks {
  /** Call this before the credentials for callbacks are stored: the row alone has no effect. */
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
      remember: async (channel) => {
        await whereItHolds(rows.put(CallbackItem, { channel }, { tenant }, any(absent(), is("tenant", tenant))));
      },
      forget: async (channel) => {
        await whereItHolds(rows.remove(CallbackItem, { channel }, any(absent(), is("tenant", tenant))));
      },
    });
  },
};

export interface CalledWorkspace {
  store: Store;
  vault: Opener;
}

/** The workspace of a channel's callbacks. The only credential is the provider's signature: check it first. */
export const calledWorkspace = /* @__PURE__ */ perEnvironment(
  "calledWorkspace",
  { env: ["TABLE_NAME"], grants: [...storeWrite.grants, ...vaultOpening.grants] },
  (deps) => {
    const rows = openCallbacks(deps);
    const storeOf = bindAnywhere(deps, storeWrite);
    const vaultOf = vaultOpening.open(deps);
    return async (channel: string): Promise<CalledWorkspace | undefined> => {
      const row = await rows.get(CallbackItem, { channel });
      return row && { store: await storeOf(row.tenant), vault: vaultOf(row.tenant) };
    };
  },
);
