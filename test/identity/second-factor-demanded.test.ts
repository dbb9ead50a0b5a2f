// A workspace that demands a second factor (ACC-12).
import { beforeEach, describe, expect, it } from "vitest";
import { DAY } from "../../shared/kernel/clock.ts";
import { PASSWORD } from "../support/accounts.ts";
import { bearerOf } from "../support/credentials.ts";
import { STEP_MS, secondFactorsIn } from "../support/second-factors.ts";
import { openStream } from "../support/sse.ts";
import { type Answer, type TestWorld, testWorld } from "../support/world.ts";

let world: TestWorld;
beforeEach(async () => {
  world = await testWorld();
});
const { post, register, login, codeOf, remove, enrol, enrolled, invitedBy } = secondFactorsIn(() => world);

const demand = (session: Answer) =>
  world.call("PATCH /api/v1/workspace", { as: bearerOf(session), body: { second_factor_required: true } });
const read = async (session: Answer) =>
  (await world.call("GET /api/v1/workspace", { as: bearerOf(session) })).body.code ?? "open";
const account = async (session: Answer) => (await world.call("GET /api/v1/me", { as: bearerOf(session) })).body;

/** An owner with a second factor, and a member without one. */
async function owned(): Promise<{ owner: Answer; member: Answer }> {
  const { session: owner } = await enrolled();
  const token = await invitedBy(bearerOf(owner), "grace@hopper.example", "admin");
  return { owner, member: await post("invitations/accept", { token, name: "Grace", password: PASSWORD }) };
}

describe("a workspace that demands a second factor", () => {
  it("a workspace that demands a second factor is not set so by a member without one (ACC-12)", async () => {
    expect((await demand(await register())).body.fields).toHaveProperty("second_factor_required");
  });

  it("a workspace that demands a second factor is set so by a member who has one (ACC-12)", async () => {
    const session = await register();
    await enrol(session);

    expect((await demand(session)).body.second_factor_required).toBe(true);
    expect(await read(session)).toBe("open");
  });

  it("a workspace that demands a second factor gives a session without one its own account alone (ACC-12)", async () => {
    const { owner, member } = await owned();
    await demand(owner);

    expect(await read(member)).toBe("SECOND_FACTOR_MISSING");
    expect(await account(member)).toMatchObject({ second_factor_missing: true });
  });

  it.each<[string, (member: Answer) => Promise<Answer>]>([
    ["a narrowed token", (member) => post("tokens/read-only", {}, bearerOf(member))],
    ["a renewed session", ({ body }) => post("refresh", { refresh_token: body.refresh_token })],
    ["a session switched to it", (member) => post("switch", { tenant_id: member.body.tenant.id }, bearerOf(member))],
  ])(
    "a workspace that demands a second factor is closed to %s of a session without one (ACC-12)",
    async (_, derive) => {
      const { owner, member } = await owned();
      await demand(owner);

      expect(await read(await derive(member))).toBe("SECOND_FACTOR_MISSING");
    },
  );

  it("a workspace that demands a second factor opens to a session that sets one up (ACC-12)", async () => {
    const { owner, member } = await owned();
    await demand(owner);
    await enrol(member);

    expect(await read(member)).toBe("open");
    expect(await account(member)).toMatchObject({ second_factor_missing: false });
    expect(await read(await post("switch", { tenant_id: member.body.tenant.id }, bearerOf(member)))).toBe("open");
  });

  it("a second factor that is set up in a session counts in the one that it was switched to from (ACC-12)", async () => {
    const { owner, member } = await owned();
    await demand(owner);
    await enrol(await post("switch", { tenant_id: member.body.tenant.id }, bearerOf(member)));

    expect(await read(member)).toBe("open");
  });

  it("a workspace that demands a second factor opens no live stream to a session without one (ACC-12)", async () => {
    const { owner, member } = await owned();
    await demand(owner);
    const refused = await openStream(world, "?subscriber_id=ada", bearerOf(member));

    expect(refused.status).toBe(403);
    expect(JSON.parse(refused.text).code).toBe("SECOND_FACTOR_MISSING");
  });

  it("an agency that demands a second factor closes its clients to a session without one (ACC-12)", async () => {
    const { owner, member } = await owned();
    const change = { tenant_id: owner.body.tenant.id, kind: "agency", plan: "enterprise" };
    await world.host.invoke("operator", change);
    const made = await world.call("POST /api/v1/agency/workspaces", { as: bearerOf(owner), body: { name: "Baker" } });
    const enter = (session: Answer) =>
      world.call(`POST /api/v1/agency/workspaces/${made.body.id}/session`, { as: bearerOf(session) });
    const inside = [await enter(owner), await enter(member)];
    const before = await Promise.all(inside.map(read));
    await demand(owner);

    expect(before).toEqual(["open", "open"]);
    expect(await Promise.all(inside.map(read))).toEqual(["open", "SECOND_FACTOR_MISSING"]);
    expect((await enter(member)).body.code).toBe("SECOND_FACTOR_MISSING");
  });

  it("a workspace that demands a second factor closes to a session whose second factor was removed (ACC-12)", async () => {
    const session = await register();
    const { key } = await enrol(session);
    await demand(session);
    await world.advance(DAY);
    const later = await login({ code: codeOf(key) });
    await world.advance(STEP_MS);

    expect((await remove(later, codeOf(key))).status).toBe(204);
    expect(await read(later)).toBe("SECOND_FACTOR_MISSING");
  });
});
