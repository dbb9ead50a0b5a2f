// Verification of channels: one cycle at a time, the newest counts, nothing stays queued for ever (CHN-9 to CHN-11).
import { expect, it } from "vitest";
import { keys } from "../../shared/store/keys.ts";
import { acceptChannel, findVerification, refuseChannel } from "../../shared/store/verifications.ts";
import { channelCalls } from "../support/channels.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();

it("CHN-11 a late or double outcome changes nothing once the credentials were replaced", async () => {
  const { world, tenant } = await withTenant();
  const { create, upload } = await channelCalls(world, tenant);
  const id = await create("sms");
  const row = () => tenant.store.get(keys.entity(tenant.id, "channel", id));
  await upload(id, "sms");
  const early = (await findVerification(tenant.store, id, undefined))!;
  await upload(id, "sms");
  expect(await findVerification(tenant.store, id, early.id)).toBeUndefined();
  const before = await row();
  await acceptChannel(tenant.store, early);
  await refuseChannel(tenant.store, early, "too late");
  expect(await row()).toEqual(before);

  const now = (await findVerification(tenant.store, id, undefined))!;
  await acceptChannel(tenant.store, now);
  await refuseChannel(tenant.store, now, "twice");
  expect(await row()).toMatchObject({ status: "active", verified_at: "2026-11-20T12:00:00.000Z" });
});
