// What a timeline says of the journeys of its person (RDA-5, AMB-147).
import { expect, it } from "vitest";
import { MINUTE } from "../../shared/kernel/clock.ts";
import { ingest } from "../support/events.ts";
import { attribute, graphOf, journeySetting } from "../support/journeys.ts";
import { timeline } from "../support/pages.ts";
import { addPeople } from "../support/people.ts";
import { openChannels } from "../support/reached.ts";
import { worlds } from "../support/worlds.ts";

const { fresh } = worlds();

it("a timeline has what happened at the steps of a journey's run, with its reason (RDA-5)", async () => {
  const world = await fresh();
  const { tenant, create, activate } = await journeySetting(world);
  const { email } = await openChannels(world, tenant, "email");
  const [ada = ""] = await addPeople(world, tenant, 1);
  const mail = { send: { channel_ids: [email], content: { title: "t", body: "b" }, next: "end" } };
  await activate(await create(graphOf({ mail, end: "exit" })));
  await ingest(world, tenant, { event_name: "signed_up", subscriber_id: ada });
  await world.settle();

  const [ended] = await timeline(world, tenant, ada, "kinds=journey");

  expect(ended).toMatchObject({
    state: "completed",
    data: { steps: expect.arrayContaining([{ step: "mail", outcome: "skipped:no_address", count: 1 }]) },
  });
});

it("a timeline has what started no run of a journey, and why (RDA-5)", async () => {
  const world = await fresh();
  const { call, tenant, active, person, track, send } = await journeySetting(world);
  const rules = { entry_rules: { eligibility: attribute("plan", "pro") } };
  const id = await active(graphOf({ only: send("Hi") }), rules);
  const ada = await person("ada", { plan: "free" });
  await track("ada", "signed_up");
  await person("ada", { plan: "pro" });
  await world.advance(MINUTE);
  await track("ada", "signed_up");
  await world.advance(MINUTE);
  await track("ada", "signed_up");
  const [{ id: run }] = (await call(`GET /api/v1/journeys/${id}/runs`)).body.items;

  const entries = await timeline(world, tenant, ada, "kinds=journey");

  expect(entries).toMatchObject([
    { state: "refused", data: { refusal: "reentry_window", run_id: run } },
    { state: "completed", data: { run_id: run } },
    { state: "entered", data: { run_id: run } },
    { state: "refused", data: { refusal: "not_eligible", run_id: "" } },
  ]);
  expect(await timeline(world, tenant, ada, "kinds=journey&limit=1")).toEqual(entries);
  expect(entries[0]).toMatchObject({ ref: id, subject: { id, name: "Welcome" } });
  await world.advance(MINUTE);
  await call(`POST /api/v1/journeys/${id}/pause`);
  expect(await timeline(world, tenant, ada, "kinds=journey")).toEqual(entries);
});
