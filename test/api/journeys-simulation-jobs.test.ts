// The job of a simulation on the events of the past (F3): progress, an end by cancel, and what happens meanwhile.
import { expect, it } from "vitest";
import { MINUTE } from "../../shared/kernel/clock.ts";
import { graphOf } from "../support/journeys.ts";
import { openChannels } from "../support/reached.ts";
import { requests } from "../support/requests.ts";
import { ENDS_AT_ONCE, simulating } from "../support/simulations.ts";
import { worlds } from "../support/worlds.ts";

const { fresh } = worlds();
const setting = async (options: Parameters<typeof fresh>[0] = {}) => simulating(await fresh(options));

it("a simulation begins as a pending job, and is completed over many pages of events (F3)", async () => {
  const { world, create, person, track, fill, begin, get } = await setting();
  const id = await create(ENDS_AT_ONCE);
  await person("ada");
  await track("ada", "signed_up");
  await fill(2_100);
  await world.advance(MINUTE);
  await person("bob");
  await track("bob", "signed_up");
  await world.advance(MINUTE);

  const { body } = await begin(id);
  expect(body).toMatchObject({ status: "pending", progress: 0, result: { entered: 0 } });

  await world.settle();
  expect((await get(id, body.id)).body).toMatchObject({
    status: "completed",
    progress: 1,
    result: { entered: 2, subscribers: 2 },
  });
});

it("a simulation counts what waits for the end of quiet hours, on the day on which it goes out (F3, D-QUIET)", async () => {
  const { world, tenant, call, create, person, track, simulate } = await setting();
  const { sms } = await openChannels(world, tenant, "sms");
  const content = { title: "t", body: "b" };
  const id = await create(graphOf({ text: { send: { channel_ids: [sms], content, next: "end" } }, end: "exit" }));
  const quiet_hours = { start: "10:00", end: "09:00", timezone_mode: "workspace" };
  expect((await call("PATCH /api/v1/workspace", { quiet_hours })).status).toBe(200);
  await person("ada", { phone: "+4915112345678" });
  await track("ada", "signed_up");
  await world.advance(MINUTE);

  expect((await simulate(id)).body.result).toMatchObject({
    deferred: 1,
    sends: [{ day: "2026-11-21", channel: "sms", sent: 1 }],
  });
});

/** A draft, and a way to cancel its simulations. */
async function withDraft() {
  const found = await setting();
  const id = await found.create(ENDS_AT_ONCE);
  await found.world.advance(MINUTE);
  const cancel = (simulation: string) => found.call(`POST /api/v1/journeys/${id}/simulations/${simulation}/cancel`);
  return { ...found, id, cancel };
}

it("a simulation that is canceled is not computed (F3)", async () => {
  const { world, id, begin, get, cancel } = await withDraft();
  const { body } = await begin(id);

  expect(await cancel(body.id)).toMatchObject({ status: 200, body: { status: "canceled" } });

  await world.settle();
  expect((await get(id, body.id)).body).toMatchObject({ status: "canceled", progress: 0 });
});

it("a simulation that has ended is not canceled: 409 (F3)", async () => {
  const { id, simulate, cancel } = await withDraft();
  const { body } = await simulate(id);

  expect((await cancel(body.id)).status).toBe(409);
});

it("a fourth simulation at once is refused (F3)", async () => {
  const { id, begin } = await withDraft();

  for (let open = 0; open < 3; open++) expect((await begin(id)).status).toBe(200);

  expect((await begin(id)).body).toMatchObject({ code: "QUOTA_EXCEEDED" });
});

/** A simulation of a draft that one person entered, and an act of somebody else after its first page. */
async function disturbed(
  act: (at: Awaited<ReturnType<typeof setting>>, draft: string, simulation: string) => Promise<{ status: number }>,
) {
  const page = requests({ of: "import-rows", operation: "UpdateItem", moment: "after" });
  const found = await setting({ hooks: page.hooks });
  const { world, create, person, track, begin, get } = found;
  await person("ada");
  await track("ada", "signed_up");
  await world.advance(MINUTE);
  const draft = await create(ENDS_AT_ONCE);
  const { id } = (await begin(draft)).body;
  let status = 0;
  page.next(async () => {
    ({ status } = await act(found, draft, id));
  });
  await world.settle();
  expect(status).toBeGreaterThanOrEqual(200);
  expect(status).toBeLessThan(300);
  return { ...found, read: async () => (await get(draft, id)).body };
}

it("a simulation that is canceled while it is computed stays canceled (F3)", async () => {
  const { read } = await disturbed(({ call }, draft, id) =>
    call(`POST /api/v1/journeys/${draft}/simulations/${id}/cancel`),
  );

  expect(await read()).toMatchObject({ status: "canceled", result: { entered: 0 } });
});

it("a simulation is completed though its workspace is suspended meanwhile (F3)", async () => {
  const change = ({ call, tenant }: Awaited<ReturnType<typeof setting>>, status: string) =>
    call(`PATCH /_local/workspaces/${tenant.id}`, { status });
  const { read, ...found } = await disturbed((at) => change(at, "suspended"));

  await change(found, "active");

  expect(await read()).toMatchObject({ status: "completed", result: { entered: 1 } });
});

it("a simulation is completed though its draft is deleted meanwhile (F3)", async () => {
  const { read } = await disturbed(({ call }, draft) => call(`DELETE /api/v1/journeys/${draft}`));

  expect(await read()).toMatchObject({ status: "completed", result: { entered: 1 } });
});
