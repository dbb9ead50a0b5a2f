// Chart annotations of users and of the service: who can write, see and delete them (ANN).
import { describe, expect, it } from "vitest";
import { tokenSigner } from "../../shared/http/signing.ts";
import type { TenantId } from "../../shared/kernel/ids.ts";
import { annotationWrite, autoKinds } from "../../shared/store/insights/annotations.ts";
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
    ["a text of 501 signs of two units", "text", { text: "🎉".repeat(501) }],
    ["an end before the beginning", "ends_at", { ends_at: "2026-10-01T00:00:00Z" }],
    ["a time before 1970", "occurred_at", { occurred_at: "1969-12-31T23:59:59.999Z" }],
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

  it("annotations are listed by a range of time, both ends included, and by kinds (ANN-2)", async () => {
    const { write, list } = await setting();
    for (const day of ["03", "01", "02"]) await write({ occurred_at: `2026-11-${day}T00:00:00Z`, text: day });
    const texts = async (query: string) =>
      (await list(query)).body.annotations.map(({ text }: { text: string }) => text);
    expect(await texts("from=2026-11-01T00:00:00Z&to=2026-11-02T00:00:00Z")).toEqual(["01", "02"]);
    const range = "from=2026-11-01T00:00:00Z&to=2026-12-01T00:00:00Z";
    expect(await texts(`${range}&kinds=custom,plan_change`)).toEqual(["01", "02", "03"]);
    expect(await texts(`${range}&kinds=plan_change`)).toEqual([]);
    expect(await texts(`${range}&kinds=${["custom", ...autoKinds].join()}`)).toEqual(["01", "02", "03"]);
    for (const bad of ["", "from=2026-11-01T00:00:00Z", "from=x&to=y", `${range}&kinds=nonsense`])
      expect((await list(bad)).status, bad).toBe(422);
    expect((await list("from=2026-11-02T00:00:00Z&to=2026-11-01T00:00:00Z")).status).toBe(422);
  });

  it("an annotation that begins before a range and reaches into it is listed first, until it is deleted (ANN-2)", async () => {
    const { write, list, remove } = await setting();
    const { id } = (await write({ ends_at: "2026-11-05T00:00:00Z", text: "Sale" })).body;
    await write({ occurred_at: "2026-11-04T00:00:00Z", text: "Launch" });
    const texts = async (query: string) =>
      (await list(query)).body.annotations.map(({ text }: { text: string }) => text);

    expect(await texts("from=2026-11-03T00:00:00Z&to=2026-11-04T00:00:00Z")).toEqual(["Sale", "Launch"]);
    expect(await texts("from=2026-11-05T00:00:00Z&to=2026-11-06T00:00:00Z")).toEqual(["Sale"]);
    expect(await texts("from=2026-11-05T00:00:00.001Z&to=2026-11-06T00:00:00Z")).toEqual([]);
    expect(await texts("from=2026-10-01T00:00:00Z&to=2026-12-01T00:00:00Z")).toEqual(["Sale", "Launch"]);
    expect(await texts("from=2026-10-01T00:00:00Z&to=2026-10-02T00:00:00Z")).toEqual([]);
    await remove(id);
    expect(await texts("from=2026-11-03T00:00:00Z&to=2026-11-03T01:00:00Z")).toEqual([]);
  });

  it("a plan change adds an annotation, and annotations of the service cannot be deleted (ANN-5, ANN-6, AMB-33)", async () => {
    const { world, as, list, remove } = await setting();
    await world.call("PUT /api/v1/billing/plan", { as: await as(), body: { plan: "pro" } });
    const range = "from=2026-11-20T00:00:00Z&to=2026-11-21T00:00:00Z&kinds=plan_change";
    const [auto] = (await list(range)).body.annotations;

    expect(auto).toMatchObject({ source: "auto", kind: "plan_change", created_by: null });
    expect(await remove(auto.id)).toMatchObject({ status: 403, body: { code: "FORBIDDEN" } });
  });

  it("an annotation that its user deleted is not listed any more, and is not there to delete again (ANN-5)", async () => {
    const { write, list, remove } = await setting();
    const [{ body: one }, { body: other }] = [await write(), await write({ text: "Other" })];

    expect((await remove(one.id)).status).toBe(204);

    expect((await list()).body.annotations).toMatchObject([other]);
    expect((await remove(one.id)).status).toBe(404);
  });

  it("more annotations than are read at a time are all listed (ANN-2)", async () => {
    const { tenant, list } = await setting();
    // 2,600 of half a KB are more than the megabyte of one read.
    await tenant.store.writeAll(
      Array.from({ length: 2_600 }, (_, n) =>
        annotationWrite(tenant.store, { kind: "plan_change", text: `${n}`.padEnd(500) }),
      ),
    );

    expect((await list()).body.annotations).toHaveLength(2_600);
  });

  it("an annotation for the agency alone is written, seen and deleted only in an agency's session (ANN-3, ANN-4, D-AGENCY)", async () => {
    const { world, tenant, write, list, remove } = await setting();
    const refused = await write({ visibility: "agency_only" });
    expect(refused).toMatchObject({ status: 403, body: { code: "FORBIDDEN" } });
    const agency = await world.tenant();
    await world.host.invoke("operator", { tenant_id: agency.id, kind: "agency" });
    const signer = tokenSigner.open(world.depsFor("test"))("" as TenantId);
    const subject = { user: agency.owner, tenant: tenant.id, role: "owner", agency: agency.id };
    const session = Promise.resolve({ authorization: `Bearer ${await signer.accessToken(subject)}` });
    const { status, body } = await write({ visibility: "agency_only" }, session);
    expect(status).toBe(201);
    expect(body.visibility).toBe("agency_only");
    const all = "from=2026-01-01T00:00:00Z&to=2027-01-01T00:00:00Z";
    expect((await list(all)).body.annotations).toEqual([]);
    expect((await list(all, session)).body.annotations).toHaveLength(1);
    expect((await remove(body.id)).status).toBe(404);
    expect((await remove(body.id, session)).status).toBe(204);
  });
});
