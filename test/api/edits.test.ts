// Two people edit one thing: what the second one saw decides (RDA-25).
import { describe, expect, it } from "vitest";
import { openChannels } from "../support/reached.ts";
import type { Answer, Tenant, TestWorld } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();

const RULE = { group: { op: "and", nodes: [{ attribute: { plan: { $eq: "pro" } } }] } };
/** Stands for the id of a channel of the workspace. */
const CHANNEL = "channel";
const content = { title: "News", body: "Hello" };

interface EditedResource {
  group: string;
  verb: "PATCH" | "PUT";
  make?: object;
  first: object;
  second: object;
  /** How what is there now shows which edit it has. */
  seen: object;
}

const edited: EditedResource[] = [
  {
    group: "templates",
    verb: "PATCH",
    make: { name: "A", content },
    first: { content: { title: "First" } },
    second: { name: "B" },
    seen: { name: "A", content: { title: "First" } },
  },
  {
    group: "segments",
    verb: "PATCH",
    make: { name: "A", is_dynamic: true, rule: RULE },
    first: { name: "First", rule: RULE },
    second: { name: "B", rule: RULE },
    seen: { name: "First" },
  },
  {
    group: "campaigns",
    verb: "PUT",
    make: { name: "A", messages: [{ content, channel_ids: [CHANNEL] }] },
    first: { name: "First", messages: [{ content, channel_ids: [CHANNEL] }] },
    second: { name: "B", messages: [{ content, channel_ids: [CHANNEL] }] },
    seen: { name: "First", status: "draft" },
  },
  {
    group: "in-app/experiences",
    verb: "PATCH",
    make: { name: "A", format: "card", content: { title: "Hi", body: "There" } },
    first: { name: "First" },
    second: { name: "B" },
    seen: { name: "First", status: "draft" },
  },
  {
    group: "journeys",
    verb: "PUT",
    make: { name: "A", trigger: { type: "event", event_name: "x" }, steps: {} },
    first: { name: "First", trigger: { type: "event", event_name: "x" }, steps: {} },
    second: { name: "B", trigger: { type: "event", event_name: "x" }, steps: {} },
    seen: { name: "First" },
  },
  { group: "workspace", verb: "PATCH", first: { name: "First" }, second: { name: "B" }, seen: { name: "First" } },
];

async function opened(world: TestWorld, tenant: Tenant, { group, verb, make }: EditedResource) {
  const { sms = "" } = await openChannels(world, tenant, "sms");
  const filled = (body: object) => JSON.parse(JSON.stringify(body).replaceAll(`"${CHANNEL}"`, `"${sms}"`));
  const as = await tenant.dashboard();
  const created = make && (await world.call(`POST /api/v1/${group}`, { as, body: filled(make) }));
  if (created && created.status !== 201) throw new Error(JSON.stringify(created.body));
  const path = created ? `/api/v1/${group}/${created.body.id}` : `/api/v1/${group}`;
  const edit = (body: object, match?: string) =>
    world.call(`${verb} ${path}`, {
      as,
      body: filled(body),
      ...(match !== undefined && { headers: { "if-match": match } }),
    });
  return { get: () => world.call(`GET ${path}`, { as }), edit };
}

const tagOf = async (get: () => Promise<Answer>): Promise<string> => String((await get()).headers.etag);

describe.each(edited)("$group", (what) => {
  it("an edit of what was seen is made, and has the next version as its entity tag (RDA-25)", async () => {
    const { world, tenant } = await withTenant();
    const { get, edit } = await opened(world, tenant, what);
    const etag = await tagOf(get);
    const next = `"${Number(etag.replaceAll('"', "")) + 1}"`;

    const { status, headers } = await edit(what.first, etag);

    expect({ status, etag: headers.etag }).toEqual({ status: 200, etag: next });
    expect(await tagOf(get)).toBe(next);
  });

  it("a version without quotes is taken as one with them (RDA-25)", async () => {
    const { world, tenant } = await withTenant();
    const { get, edit } = await opened(world, tenant, what);
    const etag = await tagOf(get);

    expect((await edit(what.first, etag.replaceAll('"', ""))).status).toBe(200);
  });

  it("an edit of what is gone changes nothing: 412 with what is there now (RDA-25)", async () => {
    const { world, tenant } = await withTenant();
    const { get, edit } = await opened(world, tenant, what);
    const etag = await tagOf(get);
    await edit(what.first);
    const refused = await edit(what.second, etag);
    expect(refused.status).toBe(412);
    const now = await get();
    expect(refused.body).toMatchObject({ code: "PRECONDITION_FAILED", current: what.seen });
    expect(now.body).toMatchObject(what.seen);
    expect(refused.headers.etag).toBe(now.headers.etag);
  });

  it.each(['W/"1"', '"9", W/"1"', " 1 "])("%s names the first version (RDA-25)", async (match) => {
    const { world, tenant } = await withTenant();
    const { edit } = await opened(world, tenant, what);

    expect((await edit(what.first, match)).status).toBe(200);
    expect((await edit(what.second, match)).status).toBe(412);
  });

  it("of two edits at once that saw the same version one is made (RDA-25)", async () => {
    const { world, tenant } = await withTenant();
    const { get, edit } = await opened(world, tenant, what);
    const etag = await tagOf(get);
    const both = await Promise.all([edit(what.first, etag), edit(what.second, etag)]);
    const statuses = both.map(({ status }) => status).sort();

    expect(statuses).toEqual([200, 412]);
  });

  it("an edit that says nothing of a version, or any, is made as before (RDA-25)", async () => {
    const { world, tenant } = await withTenant();
    const { edit } = await opened(world, tenant, what);

    expect((await edit(what.first)).status).toBe(200);
    expect((await edit(what.second, "*")).body).toMatchObject({ name: "B" });
  });
});
