// What becomes of a message that waits for the end of quiet hours (D-QUIET, AMB-85).
import { describe, expect, it } from "vitest";
import { MINUTE } from "../../shared/kernel/clock.ts";
import { ConsentItem } from "../../shared/store/subscribers/items.ts";
import { quietSetting, reached, TOKYO_MORNING } from "../support/quiet-hours.ts";
import { addPhone, mend, spoil } from "../support/reached.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();
const setting = (options = {}) => quietSetting(withTenant, options);

describe("a message that waits for the end of quiet hours", () => {
  it.each<
    [what: string, reason: string, act: (one: Awaited<ReturnType<typeof setting>>, id: string) => Promise<unknown>]
  >([
    ["is erased", "erased", ({ call }, id) => call(`DELETE /api/v1/subscribers/${id}`)],
    [
      "removes the device",
      "no_device",
      async ({ world, tenant, call }, id) => {
        const [device] = (await call(`GET /api/v1/subscribers/${id}/devices`)).body.items;
        await world.call(`DELETE /api/v1/devices/${device.id}?subscriber_id=${id}`, { as: tenant.sdk });
      },
    ],
    [
      "switches pushes off",
      "no_device",
      ({ world, tenant }, id) => addPhone(world, tenant, id, "ios", { token: `phone of ${id}`, push_enabled: false }),
    ],
    [
      "has a token that its provider refuses",
      "no_device",
      async ({ world, push }, id) => {
        await spoil(world, { channel: "ios", outcome: "invalid_token" });
        await push({ target: undefined, subscriberIds: [id], category: "transactional" });
        await mend(world);
      },
    ],
  ])(
    "who %s while a message waits for the end of quiet hours is not reached, for the reason %s (D-QUIET)",
    async (_, reason, act) => {
      const found = await setting();
      const { world, person, push, job } = found;
      const leaves = await person("leaves", "Asia/Tokyo");
      const stays = await person("stays", "Asia/Tokyo");
      const { job: sent } = await push({});

      await act(found, leaves);
      await world.advance(TOKYO_MORNING + MINUTE);

      expect(await reached(world)).toEqual([stays]);
      expect(await job(sent.id)).toMatchObject({
        status: "completed",
        fail_reasons: { [reason]: 1 },
        counts: { sent: 2, delivered: 1, failed: 1 },
      });
    },
  );

  it("a message that waits brings back no consent of who is erased meanwhile (D-QUIET)", async () => {
    const { world, tenant, person, push, call } = await setting();
    const gone = await person("gone", "Asia/Tokyo", { consent: { channel: "sms", status: "opted_in" } });
    await push({});

    await call(`DELETE /api/v1/subscribers/${gone}`);
    await world.advance(TOKYO_MORNING + MINUTE);

    expect((await tenant.store.queryRows(ConsentItem, { subscriber: gone })).items).toEqual([]);
  });

  it("who opts out while a message waits is not reached, for the reason no_consent (D-QUIET)", async () => {
    const { world, tenant, ids, person, push, job } = await setting({ channels: ["ios-push", "sms"] });
    await person("out", "Asia/Tokyo", { attributes: { phone: "+4915112345678" } });
    const { job: sent } = await push({ channel_ids: [ids.sms] });

    await tenant.upsert({ external_id: "out", consent: { channel: "sms", status: "opted_out" } });
    await world.advance(TOKYO_MORNING + MINUTE);

    expect(await reached(world)).toEqual([]);
    expect(await job(sent.id)).toMatchObject({ status: "failed", fail_reasons: { no_consent: 1 } });
  });
});
