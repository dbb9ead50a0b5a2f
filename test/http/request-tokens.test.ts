// The limit of requests a minute, counted by environments that take several requests at once.
import { expect, it } from "vitest";
import type { Caller } from "../../shared/http/authenticate.ts";
import { limitRequests } from "../../shared/http/gates.ts";
import { createRequestTokens } from "../../shared/http/request-tokens.ts";
import { MINUTE } from "../../shared/kernel/clock.ts";
import type { TenantId } from "../../shared/kernel/ids.ts";
import { plans } from "../../shared/rules/plans.ts";
import { platformWrite } from "../../shared/store/context.ts";
import { quickDeps } from "../support/people.ts";
import { spent } from "../support/spending.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();

it("busy environments count many requests by one write, and together never exceed the limit (LIM-1, LIM-2)", async () => {
  const { world, tenant } = await withTenant();
  const platform = platformWrite.open(quickDeps(world))("" as TenantId);
  const plan = "premium";
  const max = plans[plan].requestsPerMinute;
  const workspace = { tenant: tenant.id, plan, status: "active", kind: "standard", name: "" } as const;
  const caller = { kind: "dashboard", workspace } as unknown as Caller;
  const environments = [createRequestTokens(), createRequestTokens(), createRequestTokens()];
  const passed = async (count: number) => {
    let n = 0;
    for (let i = 0; i < count; i++)
      n += await limitRequests(caller, platform, environments[i % environments.length]!).then(
        () => 1,
        () => 0,
      );
    return n;
  };
  expect(await passed(300)).toBe(300);
  await world.advance(MINUTE);
  const cost = await spent(world, async () => expect(await passed(300)).toBe(300));
  expect(cost.wcu).toBeLessThanOrEqual(300 / Math.floor(max / 400));
  const rest = await passed(max);
  expect(rest).toBeLessThanOrEqual(max - 300);
  expect(rest).toBeGreaterThanOrEqual((max - 300) * 0.98);
});
