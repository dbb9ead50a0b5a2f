// Test sends (RDA-9): who gets them, and what their mails and messages say.
import { expect, it } from "vitest";
import { addPhone, outboxOf } from "../support/reached.ts";
import { openStream } from "../support/sse.ts";
import { testSend, withTester } from "../support/test-sends.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();

const setting = async () => withTester(await withTenant());
type Setting = Awaited<ReturnType<typeof setting>>;

const optOut = ({ tenant }: Setting, channel: string) =>
  tenant.upsert({ external_id: "p0", consent: { channel, status: "opted_out" } });
const addTopic = ({ tenant }: Setting) => tenant.call("POST /api/v1/topics", { key: "news", name: "News" });

it.each<[why: string, more: object, prepare: (here: Setting) => Promise<unknown>, became: object]>([
  [
    "skips whose consent is missing where mails need one",
    {},
    ({ configure }) => configure({ email_consent_mode: "opt_in" }),
    { state: "skipped", reason: "no_consent" },
  ],
  [
    "skips who opted out of its topic",
    { topic: "news" },
    async (here) => {
      await addTopic(here);
      await optOut(here, "topic:news");
    },
    { state: "skipped", reason: "topic_opt_out" },
  ],
  [
    "that is transactional reaches who opted out of marketing",
    { category: "transactional" },
    (here) => optOut(here, "email"),
    { state: "sent", reason: null },
  ],
])("a test by e-mail %s (RDA-9)", async (_, more, prepare, became) => {
  const here = await setting();
  await prepare(here);

  const { body } = await testSend(here.tenant, { channel_ids: [here.channels.email], ...more });

  expect(body.deliveries).toContainEqual({ subscriber_id: here.ada, channel: "email", ...became });
});

it("a test to oneself by phone alone says that there is no channel for it (RDA-9)", async () => {
  const { tenant, channels } = await setting();

  const { body } = await testSend(tenant, { channel_ids: [channels.ios], to: ["me"] });

  expect(body.deliveries).toEqual([{ subscriber_id: null, channel: "email", state: "failed", reason: "no_channel" }]);
});

it("a transactional test mail has no sender below it and no link to unsubscribe (RDA-9)", async () => {
  const { world, tenant, channels, configure } = await setting();
  await configure({ sender_name: "Tidepool" });

  await testSend(tenant, { channel_ids: [channels.email], category: "transactional" });

  const mails = JSON.stringify(await outboxOf(world, "?channel=email"));
  expect(mails).not.toMatch(/unsubscribe|Tidepool/i);
});

it("a test mail of a topic to oneself shows where the preferences would be, in the language of whom it is shown as (RDA-9)", async () => {
  const here = await setting();
  await addTopic(here);
  await here.tenant.upsert({ external_id: "p1", locale: "de" });

  await testSend(here.tenant, { as_subscriber_id: here.bob, to: ["me"], topic: "news" });

  const [mail] = await outboxOf(here.world, "?channel=email");
  expect(mail?.payload).toContain("Ihre Einstellungen: https://recipient.invalid/");
});

it("a test to oneself has the texts of a test subscriber who is not erased (RDA-9)", async () => {
  const { world, tenant, ada, bob, configure } = await setting();
  await configure({ test_subscriber_ids: [ada, bob] });
  await tenant.call(`DELETE /api/v1/subscribers/${ada}`);

  await testSend(tenant, { content: { title: "For {{ subscriber.first_name }}", body: "b" }, to: [ada, bob, "me"] });

  const mails = await outboxOf(world, "?channel=email");
  expect(mails.map(({ title }) => title)).toEqual(["[Test] For Bob", "[Test] For Bob"]);
});

it("a test in the live stream has its data, and the arm that it shows (RDA-9)", async () => {
  const { world, tenant, ada } = await setting();
  const stream = await openStream(world, `?subscriber_id=${ada}`, tenant.sdk);
  const variant_b = { title: "B", body: "b" };

  await testSend(tenant, { to: [ada], data: { order: "A-1" }, variant_b, variant: "b" });
  await world.settle();

  const [frame] = stream.frames();
  expect(frame?.data).toMatchObject({ title: "[Test] B", data: { order: "A-1", variant_id: "b" } });
});

it("a test goes to 100 addresses at most, and says so of the others (RDA-9)", async () => {
  const { world, tenant, channels, ada, bob, configure } = await setting();
  const six = [ada, bob];
  for (let n = 2; n < 6; n++) six.push(await tenant.upsert({ external_id: `p${n}` }));
  for (const id of six) for (let n = id === ada ? 1 : 0; n < 17; n++) await addPhone(world, tenant, id, "ios");
  await configure({ test_subscriber_ids: six });

  const { body } = await testSend(tenant, { channel_ids: [channels.ios], to: six });

  const reasons = body.deliveries.map(({ reason }: { reason: string | null }) => reason);
  expect(reasons).toEqual([...Array(100).fill(null), "too_many_addresses", "too_many_addresses"]);
});

it("a test that is refused is none of the 20 of an hour (RDA-9)", async () => {
  const { tenant, bob } = await setting();
  for (let n = 0; n < 20; n++) expect((await testSend(tenant, { to: [bob] })).status).toBe(422);

  expect((await testSend(tenant, { to: ["me"] })).status).toBe(200);
});
