// What tests of plans and of the operator do again and again, in the world of the test that runs.
import type { Headers, Tenant, TestWorld } from "./world.ts";

export function operating(world: () => TestWorld) {
  const upsert = (tenant: Tenant, external_id: string) =>
    world().call("POST /api/v1/subscribers/upsert", { as: tenant.sdk, body: { external_id } });
  return {
    operate: (event: object) => world().host.invoke("operator", event) as Promise<Record<string, never>>,
    upsert,
    upsertThree: async (tenant: Tenant) => {
      for (const id of ["a", "b", "c"]) await upsert(tenant, id);
      await world().settle();
    },
    send: (as: Headers, body: object = {}) =>
      world().call("POST /api/v1/notifications", {
        as,
        body: { target: { type: "all" }, title: "t", body: "b", ...body },
      }),
  };
}
