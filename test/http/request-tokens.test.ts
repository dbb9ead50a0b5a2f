// The limit of requests a minute, counted by environments that take several requests at once.
import { expect, it } from "vitest";
import type { Caller } from "../../shared/http/authenticate.ts";
import { limitRequests } from "../../shared/http/gates.ts";
import { createRequestTokens, type RequestTokens } from "../../shared/http/request-tokens.ts";
import { MINUTE } from "../../shared/kernel/clock.ts";
import type { TenantId } from "../../shared/kernel/ids.ts";
import { plans } from "../../shared/rules/plans.ts";
import { platformWrite } from "../../shared/store/context.ts";
import { quickDeps } from "../support/people.ts";
import { spent } from "../support/spending.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();

const plan = "premium";
const max = plans[plan].requestsPerMinute;

/** How many of so many requests of a workspace pass, made in turn in these environments. */
async function limited() {
  const { world, tenant } = await withTenant();
  const platform = platformWrite.open(quickDeps(world))("" as TenantId);
  const passed = async (count: number, environments: readonly RequestTokens[], { id } = tenant) => {
    const workspace = { tenant: id, plan, status: "active", kind: "standard", name: "" } as const;
    const caller = { kind: "dashboard", workspace } as unknown as Caller;
    let n = 0;
    for (let i = 0; i < count; i++)
      n += await limitRequests(caller, platform, environments[i % environments.length]!).then(
        () => 1,
        () => 0,
      );
    return n;
  };
  return { world, passed };
}

it("busy environments count many requests by one write, and together never exceed the limit (LIM-1, LIM-2)", async () => {
  const { world, passed } = await limited();
  const environments = [createRequestTokens(), createRequestTokens(), createRequestTokens()];
  expect(await passed(300, environments)).toBe(300);
  await world.advance(MINUTE);
  const cost = await spent(world, async () => expect(await passed(300, environments)).toBe(300));
  expect(cost.wcu).toBeLessThanOrEqual(300 / Math.floor(max / 400));
  const rest = await passed(max, environments);
  expect(rest).toBeLessThanOrEqual(max - 300);
  expect(rest).toBeGreaterThanOrEqual((max - 300) * 0.98);
});

it("requests that an environment has counted of a busy workspace are none of another's (LIM-1, GEN-8)", async () => {
  const { world, passed } = await limited();
  const environments = [createRequestTokens()];
  const other = await world.tenant();
  await passed(300, environments);
  await world.advance(MINUTE);
  await passed(1, environments);

  expect(await passed(max + 10, environments, other)).toBe(max);
});
