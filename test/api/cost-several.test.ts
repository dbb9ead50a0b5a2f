// What a send costs that reaches people on several channels, chooses one for each, or leaves many out (F10).
import { expect, it } from "vitest";
import { equip, fill } from "../../bench/people.ts";
import { openChannels } from "../support/reached.ts";
import { pricedSend } from "../support/spending.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();
const PEOPLE = 300;
const EVERYWHERE = { email: "ada@example.com", attributes: { phone: "+4915112345678" } };
const SMART = { channel_arbitration_mode: "smart" };
const OF_NOBODY = { topic: "deals" };

it.each([
  ["texts and mails", ["sms", "email"], "all", {}],
  ["texts and mails", ["sms", "email"], "list", {}],
  ["texts and inboxes", ["sms", "in_app"], "all", {}],
  ["texts and inboxes", ["sms", "in_app"], "list", {}],
  ["pushes and texts", ["ios-push", "sms"], "all", {}],
  ["all of them", ["email", "ios-push", "sms", "in_app"], "list", {}],
  ["the better of texts and mails", ["sms", "email"], "all", SMART],
  ["the better of inboxes and pushes", ["in_app", "ios-push"], "all", SMART],
  ["mails that nobody wants", ["email"], "list", OF_NOBODY],
] as const)(
  "the preview of a send of %s (%j) to %s, and its record, are within a tenth of what it takes (F10)",
  { timeout: 300_000 },
  async (_, by, target, more) => {
    const { world, tenant } = await withTenant();
    const { call } = tenant;
    const opened = await openChannels(world, tenant, ...by.flatMap((one) => (one === "in_app" ? [] : [one])));
    const [inbox] = (await call("GET /api/v1/channels")).body.channels;
    const channel_ids = [...Object.values(opened), ...(by.some((one) => one === "in_app") ? [inbox.id] : [])];
    await call("POST /api/v1/topics", { key: "deals", name: "Deals", default: "out" });
    const subscriber_ids = await fill(world, tenant, PEOPLE, EVERYWHERE);
    await equip(world, tenant, subscriber_ids);
    const { id: list_id } = (await call("POST /api/v1/lists", { name: "Everybody" })).body;
    await call(`POST /api/v1/lists/${list_id}/subscribers`, { subscriber_ids });
    const whom = target === "list" ? { type: "list", list_id } : { type: "all" };

    const body = { title: "Hello", body: "b", channel_ids, target: whom, ...more };
    const { job, estimate, within } = await pricedSend(world, tenant, body);

    for (const cost of [estimate, job.cost]) {
      expect(within("write_units", cost)).toBeLessThan(0.1);
      expect(within("read_units", cost)).toBeLessThan(0.1);
    }
  },
);
