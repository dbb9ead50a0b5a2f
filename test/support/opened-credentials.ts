// The stored credentials of a channel, opened.
import type { Credentials } from "../../shared/contract/credentials.ts";
import { openCredentials } from "../../shared/store/channels/credentials.ts";
import { CredentialsItem } from "../../shared/store/channels/items.ts";
import { vaultOpening } from "../../shared/store/vault.ts";
import type { Tenant, TestWorld } from "./world.ts";

/** The stored credentials of a channel, opened as a worker of `tenant` opens them. */
export async function opened(world: TestWorld, tenant: Tenant, id: string): Promise<Credentials> {
  const row = await tenant.store.get(CredentialsItem, { channel: id });
  return openCredentials(vaultOpening.open(world.depsFor("test"))(tenant.id), id, row!);
}
