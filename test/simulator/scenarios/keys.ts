// Server keys at work while they are revoked.
import { MINUTE } from "../../../shared/kernel/clock.ts";
import { populate } from "../actors.ts";
import type { Scenario } from "../invariant.ts";
import type { ServerKey } from "../ledger.ts";
import type { Tenant } from "../tenants.ts";
import type { SimWorld } from "../world.ts";

const BUSY_MS = 10 * MINUTE;
const WHOAMI = "GET /v1/whoami";

export const serverKeys: Scenario = {
  name: "keys",
  start: async (world) => {
    const { random } = world;
    for (let tenants = random.between(1, 2); tenants > 0; tenants--) {
      const tenant = await world.tenant();
      await populate(world, tenant, 1);
      for (let n = random.between(1, 3); n > 0; n--)
        world.act(random.between(0, MINUTE), () => lifeOfAKey(world, tenant));
    }
  },
};

async function lifeOfAKey(world: SimWorld, tenant: Tenant): Promise<void> {
  const { random, ledger, kernel } = world;
  const body = { name: `key ${ledger.keys.length}` };
  const made = await world.call(tenant, "dashboard", "POST /api/v1/server-keys", { body });
  if (made.status !== 201) return;
  const key: ServerKey = { tenant: tenant.id, id: made.body.id };
  ledger.keys.push(key);
  world.name(key.id, `key-${ledger.keys.length}`);
  const use = async () => {
    const at = kernel.now();
    const { status } = await world.call(tenant, { key: made.body.key }, WHOAMI);
    ledger.uses.push({ key, at, status });
  };
  let isRevoking = false;
  const revoke = async () => {
    if (isRevoking) return;
    isRevoking = true;
    // A process whose clock is behind refuses a token that is new.
    for (let status = 0; status === 0 || status === 401 || status >= 500; )
      ({ status } = await world.call(tenant, "dashboard", "DELETE /api/v1/server-keys/{id}", {
        params: { id: key.id },
      }));
    key.revokedAt = kernel.now();
  };
  for (let n = random.between(6, 16); n > 0; n--) world.act(random.between(0, BUSY_MS), use);
  if (random.chance(0.3)) return;
  world.act(random.between(MINUTE, BUSY_MS), revoke);
  // Trace point: it is revoked exactly when it is used.
  world.onArrival((route, { id }) => {
    if (route === WHOAMI && id === tenant.id && random.chance(0.1)) world.act(random.between(0, 60), revoke);
  });
}
