// The state of the domain that a channel sends mail from, looked up when the channel is verified (RDA-24).
import { expect, it } from "vitest";
import { awsFailure } from "../../local/aws/index.ts";
import { DAY } from "../../shared/kernel/clock.ts";
import { SenderDomainItem } from "../../shared/store/channels/items.ts";
import { channelCalls, SMTP } from "../support/channels.ts";
import { SES } from "../support/mails.ts";
import { openChannels } from "../support/reached.ts";
import { requests } from "../support/requests.ts";
import type { Tenant, TestWorld } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();

type WantedRecord = { type: string; name: string; value: string; is_there: boolean };

async function mailChannel(world: TestWorld, tenant: Tenant, body: object) {
  const { call, create, upload } = await channelCalls(world, tenant);
  const id = await create("email");
  await upload(id, "email", { body });
  await world.settle();
  const domain = async () => (await call(`GET /${id}/health`)).body.domain;
  const verify = async () => {
    await call(`POST /${id}/verify`);
    await world.settle();
  };
  return { id, domain, verify, call };
}

const publish = (world: TestWorld, body: object) => world.call("POST /_local/dns", { body });

it("of a sender by SES, DKIM has the records to publish, and is valid once they are there (RDA-24)", async () => {
  const { world, tenant } = await withTenant();
  const { domain, verify } = await mailChannel(world, tenant, SES);
  const { dkim } = await domain();
  expect(dkim).toMatchObject({ state: "missing", name: "_domainkey.example.com" });
  const wanted: WantedRecord[] = dkim.wanted;
  expect(wanted.map(({ type, is_there }) => [type, is_there])).toEqual(Array(3).fill(["CNAME", false]));
  for (const { name, value } of wanted) await publish(world, { name, alias: value });
  await verify();
  expect((await domain()).dkim).toMatchObject({ state: "valid", advice: null });
});

it("of a sender by SES, SPF is that of SES without a MAIL FROM domain (RDA-24)", async () => {
  const { world, tenant } = await withTenant();
  const { domain } = await mailChannel(world, tenant, SES);

  expect((await domain()).spf).toMatchObject({ state: "weak", record: null });
});

it("of a sender by a mail server, SPF of the domain, and DKIM is not known (RDA-24)", async () => {
  const { world, tenant } = await withTenant();
  await publish(world, { name: "example.com", text: "v=spf1 mx -all" });
  const { domain } = await mailChannel(world, tenant, { ...SMTP, from_email: "shop@Example.com" });

  expect(await domain()).toMatchObject({
    domain: "example.com",
    spf: { state: "valid", record: "v=spf1 mx -all" },
    dkim: { state: "unknown" },
  });
});

it("DMARC follows what is published, from one verification to the next (RDA-24)", async () => {
  const { world, tenant } = await withTenant();
  const { domain, verify } = await mailChannel(world, tenant, SES);
  const before = await domain();
  expect(before.dmarc).toMatchObject({ state: "missing", policy: null, wanted: [{ name: "_dmarc.example.com" }] });
  await publish(world, { name: "_dmarc.example.com", text: "v=DMARC1; p=reject; rua=mailto:a@example.com" });
  expect((await domain()).dmarc).toEqual(before.dmarc);
  await world.advance(1_000);
  await verify();
  const after = await domain();
  expect(after.dmarc).toMatchObject({ state: "valid", policy: "reject", advice: null });
  expect(Date.parse(after.checked_at)).toBeGreaterThan(Date.parse(before.checked_at));
});

it("the state of the domain is there for a sender that is refused, too (RDA-24)", async () => {
  const { world, tenant } = await withTenant();
  await world.call("POST /_local/faults", { body: { channel: "verify:email", outcome: "permanent", times: 1 } });
  const { id, domain, call } = await mailChannel(world, tenant, SES);

  expect((await call(`GET /${id}`)).body.status).toBe("invalid");
  expect(await domain()).toMatchObject({ domain: "example.com", dmarc: { state: "missing" } });
});

it("the state of the domain is null of other channels, and gone with the channel (RDA-24)", async () => {
  const { world, tenant } = await withTenant();
  const { sms = "" } = await openChannels(world, tenant, "sms");
  const { id, call } = await mailChannel(world, tenant, SES);
  expect((await call(`GET /${sms}/health`)).body.domain).toBeNull();
  await call(`DELETE /${id}?force=true`);
  expect((await call(`GET /${id}/health`)).status).toBe(404);
  expect(await tenant.store.queryRows(SenderDomainItem, { channel: id })).toMatchObject({ items: [] });
});

it.each([
  ["does not know", "NotFoundException", "missing", "SES does not know example.com"],
  ["cannot be asked about", "TooManyRequestsException", "unknown", "SES did not answer"],
])("the DKIM of a domain that SES %s says so, beside its DMARC (RDA-24)", async (_, name, state, advice) => {
  const asked = requests({ of: "verify-channel", service: "ses", operation: "GetEmailIdentity" });
  const { world, tenant } = await withTenant({ hooks: asked.hooks });
  asked.fail(awsFailure(name, "no"));

  const { domain } = await mailChannel(world, tenant, SES);
  await world.advance(2 * DAY);

  expect(await domain()).toMatchObject({
    dkim: { state, name: "_domainkey.example.com", advice: expect.stringContaining(advice) },
    dmarc: { state: "missing" },
  });
});
