// Messages that wait for the end of quiet hours in a workspace that is suspended meanwhile (D-QUIET, AMB-86).
import { describe, expect, it } from "vitest";
import { HOUR } from "../../shared/kernel/clock.ts";
import { operate } from "../support/people.ts";
import { NEW_YORK_MORNING, quietSetting, reached, TOKYO_MORNING } from "../support/quiet-hours.ts";
import { worlds } from "../support/worlds.ts";

const { withTenant } = worlds();
const setting = () => quietSetting(withTenant);

describe("a message that waits in a workspace that is suspended", () => {
  async function suspendedFor(duration: number) {
    const found = await setting();
    const ben = await found.person("ben", "Asia/Tokyo");
    const { job: sent } = await found.push({});
    await operate(found.world, found.tenant, { status: "suspended" });
    await found.world.advance(duration);
    const whileSuspended = await reached(found.world);
    await operate(found.world, found.tenant, { status: "active" });
    await found.world.advance(HOUR);
    return { ...found, ben, sent, whileSuspended };
  }

  it("a message that waits is not sent while its workspace is suspended, and is afterwards (D-QUIET, AMB-86)", async () => {
    const { world, ben, sent, job, whileSuspended } = await suspendedFor(TOKYO_MORNING + 3 * HOUR);

    expect(whileSuspended).toEqual([]);
    expect(await reached(world)).toEqual([ben]);
    expect(await job(sent.id)).toMatchObject({ status: "completed", counts: { delivered: 1 } });
  });

  it("a message that waits expires when its workspace is suspended for longer than a day (D-QUIET, AMB-86)", async () => {
    const { world, sent, job } = await suspendedFor(TOKYO_MORNING + 40 * HOUR);

    expect(await reached(world)).toEqual([]);
    expect(await job(sent.id)).toMatchObject({ status: "failed", fail_reasons: { expired: 1 }, deferred: 0 });
  });

  it("a message that waits expires a day after the quiet hours of its own recipient (D-QUIET, AMB-86)", async () => {
    const { world, tenant, person, push, job } = await setting();
    await person("new-york", "America/New_York");
    const tokyo = await person("tokyo", "Asia/Tokyo");
    const { job: sent } = await push({});
    await operate(world, tenant, { status: "suspended" });
    await world.advance(NEW_YORK_MORNING + 30 * HOUR);
    await operate(world, tenant, { status: "active" });
    await world.advance(6 * HOUR);

    expect(await reached(world)).toEqual([tokyo]);
    expect(await job(sent.id)).toMatchObject({ status: "completed", fail_reasons: { expired: 1 } });
  });
});
