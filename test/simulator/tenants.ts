// Workspaces of a simulated service, created without faults before the run begins.
import { beginSweeps } from "../../local/account.ts";
import { secretsMaker, tokenSigner } from "../../shared/http/signing.ts";
import { MINUTE, timestamp } from "../../shared/kernel/clock.ts";
import type { Deps } from "../../shared/kernel/deps.ts";
import type { TenantId } from "../../shared/kernel/ids.ts";
import type { ProvidedChannel } from "../../shared/rules/channel-types.ts";
import { channels } from "../../shared/rules/channels.ts";
import type { WebhookEvent } from "../../shared/rules/webhook-events.ts";
import { secrets } from "../../shared/store/capabilities.ts";
import { ChannelItem, CredentialsItem } from "../../shared/store/channels/items.ts";
import { is } from "../../shared/store/conditions.ts";
import { platformWrite, type Store, storeWrite } from "../../shared/store/context.ts";
import { onConditionFailed } from "../../shared/store/refusals.ts";
import { registerDevice } from "../../shared/store/subscribers/device-registration.ts";
import type { Device } from "../../shared/store/subscribers/devices.ts";
import { subscriberId, upsertSubscriber } from "../../shared/store/subscribers/subscribers.ts";
import { vaultSealing } from "../../shared/store/vault.ts";
import { createWebhook } from "../../shared/store/webhooks/webhooks.ts";
import { register, type WorkspaceKind } from "../../shared/store/workspaces/identity.ts";
import { WorkspaceItem } from "../../shared/store/workspaces/items.ts";
import { sdkKeyFor } from "../../shared/store/workspaces/sdk-keys.ts";
import { changeWorkspace } from "../../shared/store/workspaces/workspaces.ts";

export interface Tenant {
  id: TenantId;
  /** Access without faults, to set up what the run needs. */
  store: Store;
  /** A channel that is ready to send, from before the story. @param secret what its credentials hold. @returns its id. */
  addChannel(type: ProvidedChannel, secret?: object): Promise<string>;
  /** A webhook endpoint from before the story. @returns its id. */
  addWebhook(target_url: string, events: readonly WebhookEvent[]): Promise<string>;
  /** Its settings, from before the story. */
  configure(settings: Parameters<typeof changeWorkspace>[2]): Promise<void>;
  headers(credential: "sdk" | "dashboard"): Promise<Record<string, string>>;
  /** A subscriber from before the story. @returns its id. */
  addSubscriber(
    input: { external_id: string; email: string; attributes: Record<string, string> },
    platform?: Device["platform"],
  ): Promise<string>;
  /** Its deletion, if it is deleted, was so long ago. */
  deletedAgo(ms: number): Promise<void>;
  /** The id that a subscriber with this external id has or will have. */
  idOf(external_id: string): string;
}

/** Tokens live 15 minutes. */
const TOKEN_KEPT_MS = 10 * MINUTE;

export function openTenants(deps: Deps) {
  const none = "" as TenantId;
  const platform = platformWrite.open(deps)(none);
  const storeOf = storeWrite.open(deps);
  const signer = tokenSigner.open(deps)(none);
  let made = 0;

  const make = async (kind?: WorkspaceKind): Promise<Tenant> => {
    await secretsMaker.open(deps)(none).ensure();
    if (made === 0) await beginSweeps(deps);
    const { user, tenant: id } = await register(platform, storeOf, {
      email: `owner${++made}@example.com`,
      secret: "",
      name: "Owner",
      workspace_name: `Workspace ${made}`,
      plan: "enterprise",
      kind,
      isConfirmed: true,
    });
    const root = await secrets.open(deps)(none).root();
    const sdk = { "x-sdk-key": sdkKeyFor(root, id) };
    const store = storeOf(id);
    let token = { text: "", until: 0 };
    const authorization = async () => {
      const now = deps.clock.now();
      if (now >= token.until) {
        const text = await signer.accessToken({ user: user.id, tenant: id, role: "owner" });
        token = { text, until: now + TOKEN_KEPT_MS };
      }
      return `Bearer ${token.text}`;
    };
    return {
      id,
      store,
      headers: async (credential) => (credential === "sdk" ? sdk : { authorization: await authorization() }),
      addChannel: async (type, own = {}) => {
        const channel = store.ids.uuidAt(deps.clock.now());
        const credentialType = channels[type].credentials.type;
        const secret = { type: credentialType, ...own };
        const sealed = await vaultSealing.open(deps)(id).seal({ channel, type: credentialType }, secret);
        const created_at = timestamp(deps.clock.now());
        const about = { created_at, updated_at: created_at, version: "first" };
        await store.put(CredentialsItem, { channel }, { id: channel, type: credentialType, sealed, ...about });
        await store.put(
          ChannelItem,
          { id: channel },
          {
            id: channel,
            type,
            name: type,
            active: true,
            status: "active",
            credentials: "first",
            verified_credentials: "first",
            verified_at: created_at,
            created_at,
          },
        );
        return channel;
      },
      addWebhook: async (target_url, events) =>
        (await createWebhook(store, secrets.open(deps)(id), { target_url, events })).id,
      configure: async (settings) => {
        await changeWorkspace(platform, id, settings);
      },
      deletedAgo: async (ms) => {
        const set = { deleted_at: timestamp(deps.clock.now() - ms) };
        await platform
          .change(WorkspaceItem, { tenant: id }, { set }, is("status", "deleted"))
          .catch(onConditionFailed(() => undefined));
      },
      idOf: (external_id) => subscriberId(root, id, external_id, 0),
      addSubscriber: async (input, platform) => {
        const { id: subscriber_id } = await upsertSubscriber(store, root, input);
        const token = `token-${input.external_id}`;
        if (platform) await registerDevice(store, { subscriber_id, platform, token });
        return subscriber_id;
      },
    };
  };
  return { make };
}
