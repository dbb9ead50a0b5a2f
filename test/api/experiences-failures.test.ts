// Experiences whose send reached nobody (AMB-6, AMB-123): what is said of it, and how it is sent after all. And those that
// end while they are sent.
import { expect, it } from "vitest";
import { HOUR } from "../../shared/kernel/clock.ts";
import { act, draft, jobOf, jobsOf, readExperience, take } from "../support/experiences.ts";
import { operate, reachedOf } from "../support/people.ts";
import { START } from "../support/world.ts";
import { worlds } from "../support/worlds.ts";

const { withPeople } = worlds();
const at = (ms: number) => new Date(START + ms).toISOString();

/** An experience that came to its start when the workspace could send no more. */
async function failed() {
  const people = await withPeople(2);
  const { world, tenant } = people;
  const id = await draft(tenant, { start_at: at(HOUR) });
  await take(world, tenant, id, "publish");
  await operate(world, tenant, { monthly_send_cap: 1 });
  await world.advance(HOUR);
  return { ...people, id };
}

it("an experience whose send failed at its start says why, and so does an annotation (AMB-123)", async () => {
  const { tenant, id } = await failed();

  const { body } = await readExperience(tenant, id);

  expect(body).toMatchObject({ status: "live", last_error: { code: "SEND_CAP_REACHED", at: at(HOUR) } });
  const range = `from=${at(0)}&to=${at(2 * HOUR)}`;
  const { annotations } = (await tenant.call(`GET /api/v1/annotations?${range}&kinds=experience_failed`)).body;
  expect(annotations).toMatchObject([{ ref_id: id, text: expect.stringContaining("Spring sale") }]);
});

it("a pause and a resume send an experience whose send reached nobody (AMB-6, INX-34)", async () => {
  const { world, tenant, id, ids } = await failed();
  await operate(world, tenant, { monthly_send_cap: null });

  const { notification_id, ...resumed } = await take(world, tenant, id, "pause", "resume");

  expect(resumed).not.toHaveProperty("last_error");
  expect(await reachedOf(world, tenant, ids, notification_id)).toEqual(ids);
  expect(await jobsOf(tenant, id)).toHaveLength(2);
});

it("an end stops a send that is under way, which then takes nothing of the quota (INX-35, AMB-87)", async () => {
  const { world, tenant } = await withPeople(3);
  const id = await draft(tenant);
  const { notification_id } = (await act(world, tenant, id, "publish")).body;

  await take(world, tenant, id, "end");

  const counts = { total: 3, sent: 0, delivered: 0, skipped: 3 };
  expect(await jobOf(tenant, notification_id)).toMatchObject({ status: "canceled", counts });
  expect((await tenant.call("GET /api/v1/billing")).body.usage.sends).toBe(0);
});
