// Where an answer mentions a thing by its id, it has the name too (F2).
import { expect, it } from "vitest";
import { DAY } from "../../shared/kernel/clock.ts";
import { countedSetting, delayed } from "../support/journeys.ts";
import { worlds } from "../support/worlds.ts";

const { fresh } = worlds();

const ALWAYS = "from=2026-01-01T00:00:00Z&to=2027-06-01T00:00:00Z";

async function inAJourney() {
  const all = await countedSetting(await fresh());
  const { tenant, active, person, track } = all;
  const id = await active(delayed("3d"), { name: "Welcome" });
  const ada = await person("ada", { first_name: "Ada", last_name: "Byron" });
  await track("ada", "signed_up");
  const names = { journey: { id, name: "Welcome" }, subscriber: { id: ada, name: "Ada Byron" } };
  return { ...all, tenant, id, ada, names };
}

it("a run of a journey names its journey and its person, listed and canceled (F2, D-JNY-RUN)", async () => {
  const { tenant, id, names } = await inAJourney();

  const [run] = (await tenant.call(`GET /api/v1/journeys/${id}/runs`)).body.items;
  expect(run).toMatchObject(names);
  expect((await tenant.call(`POST /api/v1/journeys/${id}/runs/${run.id}/cancel`)).body).toMatchObject(names);
});

it("the explanation of a person in a journey names both, in each run too (F2, AMB-147)", async () => {
  const { tenant, id, ada, names } = await inAJourney();

  const { body } = await tenant.call(`GET /api/v1/journeys/${id}/subscribers/${ada}`);
  expect(body).toMatchObject({ ...names, runs: [names] });
});

it("a run of somebody who was erased has no name (F2, SUB-7)", async () => {
  const { tenant, world, id, ada } = await inAJourney();
  await tenant.call(`DELETE /api/v1/subscribers/${ada}`);
  await world.advance(DAY);

  const { items } = (await tenant.call(`GET /api/v1/journeys/${id}/runs`)).body;
  expect(items.map(({ subscriber }: { subscriber: { name: string | null } }) => subscriber.name)).not.toContain(
    "Ada Byron",
  );
});

it("the explanation of a recipient names the send and the person (F2)", async () => {
  const { tenant, world, ada } = await inAJourney();
  const send = { name: "Autumn", title: "t", body: "b", subscriberIds: [ada] };
  const { id } = (await tenant.call("POST /api/v1/notifications", send)).body;
  await world.settle();

  expect((await tenant.call(`GET /api/v1/notifications/${id}/recipients/${ada}`)).body).toMatchObject({
    notification: { id, name: "Autumn" },
    subscriber: { id: ada, name: "Ada Byron" },
  });
});

it("annotations name who wrote them, and what the service noted them of (F2, ANN-1)", async () => {
  const { tenant, id } = await inAJourney();
  await tenant.call("POST /api/v1/annotations", { occurred_at: "2026-11-01T10:00:00Z", text: "Launch" });

  const { annotations } = (await tenant.call(`GET /api/v1/annotations?${ALWAYS}`)).body;
  expect(annotations).toMatchObject([
    { creator: { id: tenant.owner, name: expect.stringMatching(/./) }, subject: null },
    { creator: null, subject: { kind: "journey", id, name: "Welcome" } },
  ]);
});
