// What people do by a write that is made while its reply is lost: the client asks again, and is told that it is done.
import { expect, it } from "vitest";
import { MINUTE } from "../../shared/kernel/clock.ts";
import { getWebhook } from "../../shared/store/webhooks/webhooks.ts";
import { channelCalls } from "../support/channels.ts";
import { importing, people } from "../support/imports.ts";
import { cancel, post } from "../support/notify.ts";
import { addPeople, inboxOf } from "../support/people.ts";
import { pushProvider, withPhones } from "../support/push-provider.ts";
import { lostReply, requests } from "../support/requests.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();

/** A workspace in which the table carries out a write of this kind, once it is said, and its reply is lost. */
async function losing(of: string, naming: string) {
  const write = requests({ of, service: "dynamodb", naming, moment: "after" });
  const found = await withTenant({ hooks: write.hooks });
  return { ...found, lose: () => write.next(lostReply), isAwaited: write.isAwaited };
}

it("a secret of a webhook is rotated once, so that the one of before still signs (D-HOOKS)", async () => {
  const { tenant, lose, isAwaited } = await losing("api-webhooks", "secret_version");
  const input = { target_url: "https://hooks.example.com/in", events: ["subscriber.created"] };
  const { id } = (await tenant.call("POST /api/v1/webhooks", input)).body;
  lose();

  const { secret } = (await tenant.call(`POST /api/v1/webhooks/${id}/secret/rotate`)).body;

  expect(isAwaited()).toBe(false);
  const row = await getWebhook(tenant.store, id);
  expect(row.secret_version).toBe(2);
  expect(secret).toMatch(/^whsec_/);
});

it("a suppression that is lifted is answered as lifted (AMB-129)", async () => {
  const { tenant, lose, isAwaited } = await losing("api-suppressions", "lifted_because");
  const { id } = (await tenant.call("POST /api/v1/suppressions", { address: "ada@example.com" })).body;
  lose();

  expect((await tenant.call(`DELETE /api/v1/suppressions/${id}?reason=Asked`)).status).toBe(204);
  expect(isAwaited()).toBe(false);
});

it("an import that is canceled is answered as canceled (RDA-21)", async () => {
  const cancel = requests({ of: "api-imports", naming: '"canceled"', moment: "after" });
  const { tenant, post, list } = await importing({ withTenant })({ hooks: cancel.hooks });
  const { body } = await post({ listId: list }, { filename: "people.csv", content: people(3) });
  cancel.next(lostReply);

  expect(await tenant.call(`POST /api/v1/lists/import/${body.import_job_id}/cancel`)).toMatchObject({
    status: 200,
    body: { status: "canceled" },
  });
  expect(cancel.isAwaited()).toBe(false);
});

it("a halted send that is canceled is answered as canceled (F21)", async () => {
  const stop = requests({ of: "api-notifications", naming: '"canceled"', moment: "after" });
  const { provider, providerFaults } = pushProvider();
  const { world, tenant } = await withTenant({ hooks: stop.hooks, providerFaults });
  await withPhones(world, tenant, 150);
  provider.outcomeOf = () => "permanent";
  const { body } = await post(world, tenant, { target: { type: "all" }, safety: { max_error_rate: 0.2 } });
  await world.advance(MINUTE);
  stop.next(lostReply);

  expect(await cancel(tenant, body.id)).toMatchObject({ status: 200, body: { status: "canceled" } });
  expect(stop.isAwaited()).toBe(false);
});

it("a template of a chat app that is submitted is answered as submitted (WAT-4)", async () => {
  const { world, tenant, lose, isAwaited } = await losing("api-channels", '"provider_template_id"');
  const { create, upload, call } = await channelCalls(world, tenant);
  const channel = await create("chat_app");
  await upload(channel, "chat_app");
  const draft = { name: "order_shipped", body: "Your order {{1}} is on its way." };
  const { id } = (await call(`POST /${channel}/chat-app-templates`, { body: draft })).body;
  lose();

  expect(await call(`POST /${channel}/chat-app-templates/${id}/submit`)).toMatchObject({
    status: 200,
    body: { status: "pending" },
  });
  expect(isAwaited()).toBe(false);
});

it("a key that signs ids is made once, and answered (ACC-8)", async () => {
  const { tenant, lose, isAwaited } = await losing("api-account", '"identity_keys"');
  lose();

  expect((await tenant.call("POST /api/v1/identity-keys")).status).toBe(201);
  expect((await tenant.call("GET /api/v1/identity-keys")).body.items).toHaveLength(1);
  expect(isAwaited()).toBe(false);
});

it.each([
  ["templates", "api-templates", { name: "A", content: { title: "t", body: "b" } }, { content: { title: "Edited" } }],
  [
    "in-app/experiences",
    "api-experiences",
    { name: "A", format: "card", content: { title: "Hi", body: "There" } },
    { name: "Edited" },
  ],
])("an edit of what was seen among %s is answered as made (RDA-25)", async (group, of, input, body) => {
  const { world, tenant, lose, isAwaited } = await losing(of, '"Edited"');
  const { id } = (await tenant.call(`POST /api/v1/${group}`, input)).body;
  const { etag } = (await tenant.call(`GET /api/v1/${group}/${id}`)).headers;
  lose();

  const edit = { as: await tenant.dashboard(), body, headers: { "if-match": String(etag) } };
  expect((await world.call(`PATCH /api/v1/${group}/${id}`, edit)).status).toBe(200);
  expect(isAwaited()).toBe(false);
});

it("an edit of the settings that were seen is answered as made (RDA-25)", async () => {
  const { world, tenant, lose, isAwaited } = await losing("api-account", '"Another name"');
  const as = await tenant.dashboard();
  const { etag } = (await tenant.call("GET /api/v1/workspace")).headers;
  lose();

  const edit = { as, body: { name: "Another name" }, headers: { "if-match": String(etag) } };
  expect((await world.call("PATCH /api/v1/workspace", edit)).status).toBe(200);
  expect(isAwaited()).toBe(false);
});

it("a message whose write is made, and not known to be, is in its inbox once where frequency caps count (D-CAP)", async () => {
  const writes = requests({ of: "deliver", operation: "BatchWriteItem", naming: "I#", moment: "after" });
  const { world, tenant } = await withTenant({ hooks: writes.hooks });
  const frequency_caps = [{ category: "marketing", max: 5, per: "day" }];
  await tenant.call("PATCH /api/v1/workspace", { frequency_caps });
  const ids = await addPeople(world, tenant, 2);
  writes.next(() => {
    throw new Error("The reply is lost for good.");
  });

  await post(world, tenant, { subscriberIds: ids });
  await world.advance(2 * MINUTE);

  expect(writes.isAwaited()).toBe(false);
  for (const id of ids) expect(await inboxOf(world, tenant, id)).toHaveLength(1);
});
