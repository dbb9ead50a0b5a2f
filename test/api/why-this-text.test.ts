// Why somebody got this text, at this hour, or twice (F2).
import { expect, it } from "vitest";
import { HOUR } from "../../shared/kernel/clock.ts";
import { whySetting } from "../support/why.ts";
import { worlds } from "../support/worlds.ts";

const { fresh } = worlds();

const setting = async () => whySetting(await fresh());

it("the variant of a text is told with its share (F2)", async () => {
  const { upsert, send, words } = await setting();
  const subscriberIds = await Promise.all(["ada", "bob", "cyd", "dan"].map((name) => upsert(name)));
  await send("Hi", { subscriberIds, variant_b: { title: "Hello", body: "b" }, split_percentage: 30 });

  const told = await Promise.all(["ada", "bob", "cyd", "dan"].map((name) => words(name, { send: "Hi" })));
  for (const text of told)
    expect(text).toMatch(
      /^Delivered by Email\. The text is that of variant (A, which 30|B, which 70)% get by a draw\.$/,
    );
});

it("a message that waited for the end of quiet hours is told with the hour and the reason (F2)", async () => {
  const { world, call, upsert, send, words } = await setting();
  const quiet_hours = { start: "10:00", end: "14:00", timezone_mode: "workspace" };
  await call("PATCH /api/v1/workspace", { quiet_hours });
  await send("Hi", { subscriberIds: [await upsert("ada")] });
  await world.advance(3 * HOUR);

  expect(await words("ada", { send: "Hi" })).toBe(
    "Delivered by Email. It went out on 2026-11-20 14:00 UTC after quiet hours (10:00 to 14:00, UTC); the send began on 2026-11-20 12:00 UTC.",
  );
});

it("several people with one address are named to who asks by it (F2)", async () => {
  const { upsert, send, words } = await setting();
  const email = "home@example.com";
  const subscriberIds = await Promise.all(["ada", "bob"].map((name) => upsert(name, { email })));
  await send("Hi", { subscriberIds });

  expect(await words("home@example.com", { send: "Hi" })).toMatch(
    /^Delivered by Email\.\nOthers have this address too: (ada|bob)\.$/,
  );
  expect(await words("ada", { send: "Hi" })).toBe("Delivered by Email.");
});

it("who got something and has opted out is told why: it was transactional, or came before (F2)", async () => {
  const { world, upsert, send, words } = await setting();
  const out = { consent: { status: "opted_out" } };
  const [ada, bob] = [await upsert("ada", out), await upsert("bob")];
  await send("Bill", { subscriberIds: [ada], category: "transactional" });
  await send("News", { subscriberIds: [bob] });
  await world.advance(HOUR);
  await upsert("bob", out);

  expect(await words("ada", { send: "Bill" })).toBe(
    "Delivered by Email. It is transactional: an opt-out does not stop it.",
  );
  expect(await words("bob", { send: "News" })).toBe(
    "Delivered by Email. The opt-out came after it, on 2026-11-20 13:00 UTC.",
  );
});
