// Limits of an address, and those that all callers share.
import { expect, it } from "vitest";
import {
  GUESSES_FROM_ADDRESS,
  LOGINS_PER_ADDRESS,
  PASSWORDS_OF_ALL,
  REFRESHES_OF_ALL,
  REFRESHES_PER_ADDRESS,
} from "../../functions/api/auth/limits.ts";
import type { TenantId } from "../../shared/kernel/ids.ts";
import { platformWrite } from "../../shared/store/context.ts";
import { type AttemptLimit, countAttempt } from "../../shared/store/workspaces/attempts.ts";
import { wholeTable } from "../support/people.ts";
import { type TestWorld, testWorld } from "../support/world.ts";

const NOBODY = { email: "nobody@example.com", password: "a wrong password" };

/** All but a few of a limit were counted, by other environments. */
const used = async (world: TestWorld, limit: AttemptLimit, who: string) =>
  countAttempt(platformWrite.open(world.depsFor("test"))("" as TenantId), limit, who, limit.max - 1);

async function edge() {
  const world = await testWorld({ env: { ORIGIN_SECRET: "right" } });
  const from = (address: string) => ({ "x-viewer-ip": address, "x-origin-secret": "right" });
  const refresh = async (address: string) => {
    const body = { refresh_token: "none" };
    return (await world.call("POST /api/v1/auth/refresh", { body, headers: from(address) })).status;
  };
  const login = async (address: string) =>
    (await world.call("POST /api/v1/auth/login", { body: NOBODY, headers: from(address) })).status;
  return { world, refresh, login };
}

it("a machine that refreshes in a loop is refused, and no other (D10)", async () => {
  const { world, refresh } = await edge();
  await used(world, REFRESHES_PER_ADDRESS, "198.51.100.1");
  const statuses = new Set<number>();
  for (let n = 0; n < 60; n++) statuses.add(await refresh("198.51.100.1"));

  expect([...statuses]).toEqual([401, 429]);
  expect(await refresh("198.51.100.2")).toBe(401);
});

it("a limit is one of fixed windows: around the end of one twice as many pass, and no more (LIM-4)", async () => {
  const { world, login } = await edge();
  const { max, windowMs } = GUESSES_FROM_ADDRESS;
  const passed = async () => {
    const statuses: number[] = [];
    for (let n = 0; n < 2 * max; n++) statuses.push(await login("198.51.100.1"));
    return statuses.filter((status) => status === 401).length;
  };
  await world.advance(windowMs - 1);

  expect(await passed()).toBe(max);
  await world.advance(1);
  expect(await passed()).toBe(max);
});

it("a machine that moves sessions into cookies in a loop is refused as one that refreshes (D10)", async () => {
  const { world } = await edge();
  await used(world, REFRESHES_PER_ADDRESS, "198.51.100.1");
  const headers = { "x-viewer-ip": "198.51.100.1", "x-origin-secret": "right", "sec-fetch-site": "same-origin" };
  const keep = { body: { refresh_token: "none" }, headers };
  const statuses = new Set<number>();
  for (let n = 0; n < 60; n++) statuses.add((await world.call("POST /api/v1/auth/browser/keep", keep)).status);

  expect([...statuses]).toEqual([401, 429]);
});

it("passwords of all machines together have a last resort, which refreshing does not share (D10)", async () => {
  const { world, login, refresh } = await edge();
  await used(world, PASSWORDS_OF_ALL, "all");
  const statuses: number[] = [];
  for (let n = 0; n < 8; n++) statuses.push(await login(`198.51.100.${n}`));
  expect(statuses.slice(-3)).toEqual([429, 429, 429]);
  expect(await refresh("198.51.100.9")).toBe(401);
  await used(world, REFRESHES_OF_ALL, "all");
  const refreshed = new Set<number>();
  for (let n = 0; n < 60; n++) refreshed.add(await refresh(`198.51.101.${n}`));
  expect([...refreshed]).toEqual([401, 429]);
});

it("who is refused by an address is not counted for all (D10)", async () => {
  const { world, login } = await edge();
  for (let n = 0; n < 30; n++) await login("198.51.100.1");
  const shared = (await wholeTable(world)).filter(({ pk }) => pk.S.startsWith(`LIMIT#${PASSWORDS_OF_ALL.kind}#`));

  expect(shared.reduce((sum, { count }) => sum + Number(count?.N), 0)).toBeLessThanOrEqual(10);
});

it("all addresses of one IPv6 network are one machine, and another network is another (D10)", async () => {
  const { world, login, refresh } = await edge();
  await used(world, LOGINS_PER_ADDRESS, "2001:db8:0:1::/64");
  expect(await login("2001:db8:0:1::1")).toBe(401);
  expect(await login("2001:db8:0:1:a:b:c:d")).toBe(429);
  expect(await login("2001:db8:0:2:a:b:c:d")).toBe(401);
  await used(world, REFRESHES_PER_ADDRESS, "2001:db8:0:1::/64");
  const statuses = new Set<number>();
  for (let n = 0; n < 60; n++) statuses.add(await refresh(`2001:db8:0:1::${n.toString(16)}`));
  expect([...statuses]).toEqual([401, 429]);
});

it("a counter that cannot be written refuses the request that writes it, and not the rest of its minute (D10)", async () => {
  const { world, refresh } = await edge();
  const statuses: number[] = [];
  await world.call("POST /_local/faults", { body: { channel: "aws:dynamodb", operation: "UpdateItem", times: 100 } });
  for (let n = 0; n < 25; n++) statuses.push(await refresh("198.51.100.1"));
  await world.call("DELETE /_local/faults");
  statuses.push(await refresh("198.51.100.1"));
  expect(statuses.slice(-3)).toEqual([401, 503, 401]);
});
