// A mail that comes back and is complained of too: both count, whichever is reported first.
import { expect, it } from "vitest";
import { MINUTE } from "../../shared/kernel/clock.ts";
import { mailing, tellOfMail } from "../support/mails.ts";
import { ledgerOf } from "../support/reached.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();
const ADDRESS = "ada@example.com";

it.each([
  ["before", ["Complaint", "Bounce"]],
  ["after", ["Bounce", "Complaint"]],
])("a complaint that comes %s the bounce of its mail is counted, and so is the bounce (AMB-139)", async (_, order) => {
  const { world, tenant } = await withTenant();
  const { ada, mail } = await mailing(world, tenant, ADDRESS);
  const { job } = await mail();
  await world.advance(MINUTE);
  const [row] = await ledgerOf(tenant, ada);
  const at = [String(Date.parse(String(row!.sk).split("#")[1]!))];
  const tags = { tenant: [tenant.id], job: [job.id], subscriber: [ada], at };
  const complaint = { complainedRecipients: [{ emailAddress: ADDRESS }] };
  const bounce = { bounceType: "Permanent", bouncedRecipients: [{ emailAddress: ADDRESS }] };

  for (const eventType of order)
    await tellOfMail(world, { eventType, mail: { tags }, ...(eventType === "Bounce" ? { bounce } : { complaint }) });

  const figures = { delivered: 0, bounced: 1, complained: 1 };
  expect((await tenant.call(`GET /api/v1/notifications/${job.id}`)).body.counts).toMatchObject(figures);
  const { buckets } = (await tenant.call("GET /api/v1/insights/series?group_by=channel")).body;
  expect(buckets).toMatchObject([figures]);
});
