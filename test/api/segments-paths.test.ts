// Rules over what lies within attributes: paths, empty lists, and operands that would match nobody.
import { expect, it } from "vitest";
import { journeySetting } from "../support/journeys.ts";
import { worlds } from "../support/worlds.ts";

const { fresh } = worlds();
const segment = (rule: object) => ({ name: JSON.stringify(rule), rule, is_dynamic: true });

it("a dynamic segment follows a value within an attribute (AMB-148)", async () => {
  const { world, call, person } = await journeySetting(await fresh());
  const rule = { attribute: { "address.city": { $ne: "Berlin" } } };
  const { id } = (await call("POST /api/v1/segments", segment(rule))).body;
  const count = async () => {
    await world.settle();
    return (await call(`GET /api/v1/segments/${id}`)).body.count;
  };
  await person("ada", { address: { city: "Berlin" } });
  expect(await count()).toBe(0);
  await person("ada", { address: { city: "Paris" } });
  expect(await count()).toBe(1);
  await person("ada", { address: { city: "Berlin", zip: "10115" } });
  expect(await count()).toBe(0);
});

it("an exit condition follows a value within an attribute (AMB-148)", async () => {
  const { world, active, person, track, runs } = await journeySetting(await fresh());
  const exit_conditions = [{ attribute: { "plan.name": { $eq: "pro" } } }];
  const steps = {
    pause: { id: "pause", type: "delay", delay: { duration: "1d", next: "end" } },
    end: { id: "end", type: "exit" },
  };
  const id = await active({ start: "pause", steps, exit_conditions });
  await person("ada", { plan: { name: "free" } });
  await track("ada", "signed_up");
  await person("ada", { plan: { name: "pro" } });
  await world.settle();

  expect((await runs(id)).map(({ status }: { status: string }) => status)).toEqual(["exited"]);
});

it("an empty list can be selected (RUL-4)", async () => {
  const { world, call, person } = await journeySetting(await fresh());
  await person("ada", { tags: [] });
  await person("bob", { tags: ["a"] });
  await person("eve");
  await world.settle();
  const selected = async (operators: object) => {
    const { id } = (await call("POST /api/v1/segments", segment({ attribute: { tags: operators } }))).body;
    await world.settle();
    return (await call(`GET /api/v1/segments/${id}`)).body.count;
  };

  expect(await selected({ $eq: [] })).toBe(1);
  expect(await selected({ $exists: true })).toBe(2);
});

it("a relative date as an operand is 422 when it is saved (RUL-4)", async () => {
  const { call } = await journeySetting(await fresh());
  const answer = await call("POST /api/v1/segments", segment({ attribute: { seen: { $gte: "now-3d" } } }));

  expect(answer.status).toBe(422);
  expect(answer.body.fields).toEqual({
    "rule.attribute.seen.$gte": expect.stringContaining("must not be a relative date"),
  });
});
