// What the audit trail calls the things that were changed (RDA-23).
import { expect, it } from "vitest";
import { inviting } from "../support/accounts.ts";
import { auditOf } from "../support/audit.ts";
import { delayed } from "../support/journeys.ts";
import { multipartBody } from "../support/multipart.ts";
import { pictures } from "../support/pictures.ts";
import { shared, worlds } from "../support/worlds.ts";

const { withTenant } = worlds();

async function setting() {
  const { world, tenant } = await withTenant();
  const { call, list, verify } = auditOf(world, tenant);
  const upload = async (route: string, fields: Record<string, string>, file: Parameters<typeof multipartBody>[1]) =>
    (await world.call(route, { as: await tenant.dashboard(), ...multipartBody(fields, file) })).body;
  const subjects = async (query: string) => (await list(query)).map(({ subject }) => subject);
  return { world, tenant, call, list, verify, upload, subjects };
}

it("an entry names an image by its file, and a schedule by its template (RDA-23)", async () => {
  const { call, upload, subjects } = await setting();
  const image = await upload(
    "POST /api/v1/in-app/assets",
    {},
    { name: "file", filename: "a.png", content: pictures.png },
  );
  const template_id = (await call("POST /api/v1/templates", { name: "Digest", content: { title: "t", body: "b" } }))
    .body.id;
  const channel_ids = (await call("GET /api/v1/channels")).body.channels.map(({ id }: { id: string }) => id);
  const body = { template_id, channel_ids, cron_expression: "0 9 * * *", timezone: "UTC", target: { type: "all" } };
  const schedule = (await call("POST /api/v1/schedules", body)).body;

  expect(await subjects("?action=assets")).toEqual([{ kind: "image", id: image.id, name: "a.png" }]);
  expect(await subjects("?action=schedules")).toEqual([{ kind: "schedule", id: schedule.id, name: "Digest" }]);
});

it("an entry names who was invited: by the address, and by their name once they are a member (RDA-23)", async () => {
  const { world, tenant, invite, accept } = await inviting({ withTenant });
  const { list, verify } = auditOf(world, tenant);
  const { id, token } = (await invite("grace@example.com", "marketer")).body;
  const named = async () => (await list("?action=team.createInvitation")).map(({ subject }) => subject);

  expect(await named()).toEqual([{ kind: "invitation", id, name: "grace@example.com" }]);
  await accept(token);
  expect(await named()).toEqual([{ kind: "invitation", id, name: "Grace" }]);
  expect((await verify()).valid).toBe(true);
});

it("an entry names whose invitation was withdrawn (RDA-23, D-TEAM)", async () => {
  const { world, tenant, owner, invite } = await inviting({ withTenant });
  const { list } = auditOf(world, tenant);
  const { id } = (await invite("grace@example.com", "marketer")).body;
  const withdraw = () => world.call(`DELETE /api/v1/team/invitations/${id}`, { as: owner });

  expect([(await withdraw()).status, (await withdraw()).status]).toEqual([204, 404]);
  expect((await world.call("GET /api/v1/team/invitations", { as: owner })).body.items).toEqual([]);
  const subject = { kind: "invitation", id, name: "grace@example.com" };
  expect((await list("?action=team.deleteInvitation")).at(-1)).toMatchObject({ subject, outcome: "ok" });
});

it.each([true, false])(
  "an entry of an import has the name of its list and says whether it was a dry run: %s, and the trail is whole (RDA-23)",
  async (dry_run) => {
    const { world, call, list, verify, upload } = await setting();
    const listId = (await call("POST /api/v1/lists", { name: "People" })).body.id;
    const file = { name: "file", filename: "people.csv", content: "external_id,email\neve,eve@shop.example\n" };
    const { import_job_id } = await upload("POST /api/v1/lists/import", { listId, dry_run: String(dry_run) }, file);
    await world.settle();

    const subject = { kind: "import", id: import_job_id, name: "People" };
    expect(await list("?action=imports")).toMatchObject([{ outcome: "ok", target: import_job_id, dry_run, subject }]);
    expect(await verify()).toMatchObject({ valid: true, broken: null });
  },
);

const HOOK = { target_url: "https://example.com/hooks", events: ["subscriber.created"] };

/** A workspace in which one of everything with a name was made. */
const oneOfEach = shared(async ({ withTenant }) => {
  const { world, tenant } = await withTenant();
  const { call, list } = auditOf(world, tenant);
  const content = { title: "Spring", body: "b" };
  const channel_ids = (await call("GET /api/v1/channels")).body.channels.map(({ id }: { id: string }) => id);
  const make = async (thing: string, body: object) => {
    const { status, body: made } = await call(`POST /api/v1/${thing}`, { name: "Spring", ...body });
    expect(status, JSON.stringify(made)).toBe(201);
    return made;
  };
  await make("campaigns", { messages: [{ content, channel_ids }] });
  await make("templates", { content });
  await make("segments", { rule: { attribute: { vip: { $eq: true } } } });
  await make("in-app/experiences", { format: "banner", content });
  await make("notifications", { ...content, target: { type: "all" } });
  await make("channels", { type: "email" });
  await make("topics", { key: "spring" });
  await make("webhooks", { name: undefined, ...HOOK });
  await make("agent-keys", { scopes: ["read"] });
  const { key } = await make("server-keys", { scopes: ["hooks:write"] });
  await call("POST /v1/hooks", HOOK, { authorization: `Bearer ${key}` });
  const { id } = await make("journeys", { trigger: { type: "event", event_name: "signed_up" }, steps: delayed("1d") });
  await call(`POST /api/v1/journeys/${id}/brakes/resume`, { version: 1, step: "pause" });
  return list;
});

it.each([
  ["campaigns.create", "campaign", "Spring"],
  ["templates.create", "template", "Spring"],
  ["segments.create", "segment", "Spring"],
  ["experiences.create", "experience", "Spring"],
  ["notifications.create", "notification", "Spring"],
  ["channels.create", "channel", "Spring"],
  ["topics.create", "topic", "Spring"],
  ["webhooks.create", "webhook", "example.com"],
  ["hooks.create", "webhook", "example.com"],
  ["account.createAgentKey", "agent_key", "Spring"],
  ["account.createServerKey", "server_key", "Spring"],
  ["journeys.create", "journey", "Spring"],
  ["brakes.resume", "journey", "Spring"],
])("an entry of %s is of a %s that is called %s (RDA-23)", async (action, kind, name) => {
  const list = await oneOfEach();

  expect((await list(`?action=${action}`)).map(({ subject }) => subject)).toMatchObject([{ kind, name }]);
});
