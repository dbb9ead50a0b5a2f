// Chart annotations of users and of the service: who can write, see and delete them (ANN).
import { describe, expect, it } from "vitest";
import { tokenSigner } from "../../shared/http/signing.ts";
import type { TenantId } from "../../shared/kernel/ids.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();

async function setting() {
  const { world, tenant } = await withTenant();
  const as = () => tenant.dashboard();
  const write = async (body: object = {}, who = as()) =>
    world.call("POST /api/v1/annotations", {
      as: await who,
      body: { occurred_at: "2026-11-01T10:00:00Z", text: "Launch", ...body },
    });
  const list = async (query = "from=2026-01-01T00:00:00Z&to=2027-01-01T00:00:00Z", who = as()) =>
    world.call(`GET /api/v1/annotations?${query}`, { as: await who });
  const remove = async (id: string, who = as()) => world.call(`DELETE /api/v1/annotations/${id}`, { as: await who });
  return { world, tenant, as, write, list, remove };
}

describe("annotations", () => {
  it("an annotation is answered 201, and one without an end is a point in time (ANN-1, ANN-3)", async () => {
    const { tenant, write, list } = await setting();

    const made = await write();

    expect(made.status).toBe(201);
    expect(made.body).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      occurred_at: "2026-11-01T10:00:00.000Z",
      text: "Launch",
      source: "manual",
      kind: "custom",
      visibility: "tenant",
      created_by: tenant.owner,
      created_at: "2026-11-20T12:00:00.000Z",
    });
    expect((await write({ ends_at: "2026-11-02T00:00:00Z" })).body.ends_at).toBe("2026-11-02T00:00:00.000Z");
    expect((await list()).body.annotations).toHaveLength(2);
  });

  it.each([
    ["a time in words", "occurred_at", { occurred_at: "1 November" }],
    ["a text of 501 letters", "text", { text: "x".repeat(501) }],
    ["a text of 501 signs of two units", "text", { text: "🎉".repeat(501) }],
    ["an end before the beginning", "ends_at", { ends_at: "2026-10-01T00:00:00Z" }],
  ])("an annotation is refused with 422 for %s (ANN-3)", async (_, field, body) => {
    const { write } = await setting();

    const refused = await write(body);

    expect(refused.status).toBe(422);
    expect(Object.keys(refused.body.fields)).toEqual([field]);
  });

  it.each(["x", "🎉"])("an annotation may have a text of 500 %s (ANN-3)", async (character) => {
    const { write } = await setting();

    expect((await write({ text: character.repeat(500) })).status).toBe(201);
  });

  const NOVEMBER = "from=2026-11-01T00:00:00Z&to=2026-12-01T00:00:00Z";
  it.each([
    ["a range of time, both ends included", "from=2026-11-01T00:00:00Z&to=2026-11-02T00:00:00Z", ["01", "02"]],
    ["kinds", `${NOVEMBER}&kinds=custom,plan_change`, ["01", "02", "03"]],
    ["a kind that none has", `${NOVEMBER}&kinds=plan_change`, []],
  ])("annotations are listed by %s (ANN-2)", async (_, query, expected) => {
    const { write, list } = await setting();
    for (const day of ["03", "01", "02"]) await write({ occurred_at: `2026-11-${day}T00:00:00Z`, text: day });

    const { annotations } = (await list(query)).body;

    expect(annotations.map(({ text }: { text: string }) => text)).toEqual(expected);
  });

  it.each([
    ["no range", ""],
    ["half a range", "from=2026-11-01T00:00:00Z"],
    ["times that are none", "from=x&to=y"],
    ["an unknown kind", `${NOVEMBER}&kinds=nonsense`],
    ["a range that ends before it begins", "from=2026-11-02T00:00:00Z&to=2026-11-01T00:00:00Z"],
  ])("a list of annotations is refused with 422 for %s (ANN-2)", async (_, query) => {
    const { list } = await setting();

    expect((await list(query)).status).toBe(422);
  });

  it("an annotation is deleted once (ANN-6)", async () => {
    const { write, remove } = await setting();
    const { id } = (await write()).body;

    expect((await remove(id)).status).toBe(204);

    expect((await remove(id)).status).toBe(404);
  });

  it("a plan change is annotated, and what the service annotated cannot be deleted (ANN-5, ANN-6, AMB-33)", async () => {
    const { world, as, list, remove } = await setting();

    await world.call("PUT /api/v1/billing/plan", { as: await as(), body: { plan: "pro" } });

    const [auto] = (await list(`${NOVEMBER}&kinds=plan_change`)).body.annotations;
    expect(auto).toMatchObject({ source: "auto", kind: "plan_change", created_by: null });
    expect(await remove(auto.id)).toMatchObject({ status: 403, body: { code: "FORBIDDEN" } });
  });

  describe("for the agency alone", () => {
    async function agencySetting() {
      const here = await setting();
      const agency = await here.world.tenant();
      const signer = tokenSigner.open(here.world.depsFor("test"))("" as TenantId);
      const subject = { user: agency.owner, tenant: here.tenant.id, role: "owner", agency: agency.id };
      const session = Promise.resolve({ authorization: `Bearer ${await signer.accessToken(subject)}` });
      return { ...here, session };
    }

    it("an annotation for the agency alone is not written in a session of the workspace: 403 (ANN-3, D-AGENCY)", async () => {
      const { write } = await setting();

      const refused = await write({ visibility: "agency_only" });

      expect(refused).toMatchObject({ status: 403, body: { code: "FORBIDDEN" } });
    });

    it("an annotation for the agency alone is written and seen in its session alone (ANN-3, ANN-4, D-AGENCY)", async () => {
      const { write, list, session } = await agencySetting();

      const { status, body } = await write({ visibility: "agency_only" }, session);

      expect(status).toBe(201);
      expect(body.visibility).toBe("agency_only");
      expect((await list(NOVEMBER)).body.annotations).toEqual([]);
      expect((await list(NOVEMBER, session)).body.annotations).toEqual([body]);
    });

    it("an annotation for the agency alone is deleted in its session alone (ANN-4, D-AGENCY)", async () => {
      const { write, remove, session } = await agencySetting();
      const { id } = (await write({ visibility: "agency_only" }, session)).body;

      expect((await remove(id)).status).toBe(404);

      expect((await remove(id, session)).status).toBe(204);
    });
  });
});
