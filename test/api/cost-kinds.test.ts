// What a send costs depends on more than how many it reaches (F10): what it says, who is held out, who is skipped, and caps.
import { expect, it } from "vitest";
import { copies, equip, fill } from "../../bench/people.ts";
import { openChannels } from "../support/reached.ts";
import { pricedSend } from "../support/spending.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();
const PEOPLE = 300;
const PERSONAL = { title: "Hello {{ subscriber.first_name }}", body: "b" };
const PLAIN = { title: "Hello", body: "b" };
const FILTERED = { subscriber_filters: { left_out: { $exists: false } } };
const PHONE = { attributes: { phone: "+4915112345678" } };

it.each([
  ["a text of its own for each inbox", "in_app", "all", PERSONAL, {}],
  ["a text of its own for each inbox of a list", "in_app", "list", PERSONAL, {}],
  ["a text of its own for each device", "ios-push", "all", PERSONAL, {}],
  ["a text of its own for each phone", "sms", "all", PERSONAL, {}],
  ["a topic", "in_app", "all", { ...PLAIN, topic: "news" }, {}],
  ["a topic", "sms", "all", { ...PLAIN, topic: "news" }, {}],
  ["a topic", "in_app", "list", { ...PERSONAL, topic: "news" }, {}],
  ["a topic", "ios-push", "all", { ...PLAIN, topic: "news" }, {}],
  ["half held out", "sms", "all", { ...PLAIN, holdout_percentage: 50 }, {}],
  ["two texts", "in_app", "all", { ...PLAIN, variant_b: PLAIN }, {}],
  ["a third of them held out", "in_app", "all", { ...PLAIN, holdout_percentage: 33 }, {}],
  ["half of a list held out", "sms", "list", { ...PLAIN, holdout_percentage: 50 }, {}],
  ["people of a list without a phone", "sms", "list", PLAIN, { others: 300 }],
  ["people without a phone", "sms", "all", PLAIN, { others: 300 }],
  ["a cap", "in_app", "all", PLAIN, { caps: 1 }],
  ["two caps", "sms", "list", PLAIN, { caps: 2 }],
  ["two caps", "in_app", "all", PERSONAL, { caps: 2 }],
  ["a cap", "ios-push", "all", PLAIN, { caps: 1 }],
  ["a cap on texts", "sms", "all", PLAIN, { caps: 1 }],
  ["people whom its filters leave out", "in_app", "all", { ...PLAIN, ...FILTERED }, { others: 700 }],
  ["people whom its filters leave out", "sms", "list", { ...PLAIN, ...FILTERED }, { others: 700 }],
  ["people whom its filters leave out", "ios-push", "list", { ...PLAIN, ...FILTERED }, { others: 700 }],
  ["many whom its filters leave out", "in_app", "list", { ...PLAIN, ...FILTERED }, { others: 2_700 }],
  ["many whom its filters leave out", "in_app", "all", { ...PLAIN, ...FILTERED }, { others: 2_700 }],
] as const)(
  "the preview of a send with %s by %s to %s, and its record, are within a tenth of what it takes (F10)",
  { timeout: 300_000 },
  async (_, channel, target, said, { others = 0, caps = 0 }: { others?: number; caps?: number }) => {
    const { world, tenant } = await withTenant();
    const as = await tenant.dashboard();
    if (caps > 0) {
      const frequency_caps = (["day", "week"] as const)
        .slice(0, caps)
        .map((per) => ({ max: 5, per, category: "marketing" }));
      expect((await world.call("PATCH /api/v1/workspace", { as, body: { frequency_caps } })).body).toMatchObject({
        frequency_caps,
      });
    }
    await world.call("POST /api/v1/topics", { as, body: { key: "news", name: "News", default: "in" } });
    const channels = channel === "in_app" ? undefined : await openChannels(world, tenant, channel);
    const ids = await fill(world, tenant, PEOPLE, channel === "sms" ? PHONE : {});
    if (others > 0) {
      const left = await tenant.upsert({ external_id: "left out", attributes: { left_out: true } });
      await world.settle();
      ids.push(left, ...(await copies(world, tenant, left, others - 1)));
    }
    if (channel === "ios-push") await equip(world, tenant, ids);
    const { id: list_id } = (await world.call("POST /api/v1/lists", { as, body: { name: "Everybody" } })).body;
    for (let from = 0; target === "list" && from < ids.length; from += 500)
      await world.call(`POST /api/v1/lists/${list_id}/subscribers`, {
        as,
        body: { subscriber_ids: ids.slice(from, from + 500) },
      });
    const body = {
      ...said,
      target: target === "list" ? { type: "list", list_id } : { type: "all" },
      ...(channels && { channel_ids: Object.values(channels) }),
    };
    const { job, estimate, within } = await pricedSend(world, tenant, body);
    for (const cost of [estimate, job.cost]) {
      expect(within("write_units", cost)).toBeLessThanOrEqual(0.1);
      expect(within("read_units", cost)).toBeLessThanOrEqual(0.1);
    }
  },
);
