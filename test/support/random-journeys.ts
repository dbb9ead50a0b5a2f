// Random people and journeys, and what happens to them: for the comparison of walks with what the journeys then do.
import { DAY, HOUR, MINUTE } from "../../shared/kernel/clock.ts";
import type { Random } from "../simulator/random.ts";
import { graphOf } from "./journeys.ts";

const DURATIONS = ["5m", "1h", "6h", "1d", "3d"];

/** A profile, and what is told of it besides. */
export function personOf(random: Random, name: string) {
  const hasEmail = random.chance(0.8);
  const consent = random.pick([undefined, undefined, "opted_in", "opted_out"]);
  const attributes = { plan: random.pick(["free", "pro"]), age: random.between(10, 60) };
  const email = hasEmail ? `${name}@example.com` : undefined;
  return {
    profile: {
      external_id: name,
      attributes,
      timezone: random.pick(["UTC", "Asia/Tokyo", "America/New_York"]),
      ...(email && { email }),
      ...(consent && email && { consent: { status: consent } }),
    },
    suppressed: hasEmail && random.chance(0.15) ? email : undefined,
    topic: random.pick([undefined, "opted_out", "opted_in"] as const),
  };
}

function conditionOf(random: Random): object {
  return random.pick([
    { attribute: { plan: { $eq: "pro" } } },
    { attribute: { age: { $gte: random.between(15, 50) } } },
    { event: { name: "paid" } },
    { event: { name: "paid", within: random.pick(["1h", "1d"]) } },
    { event: { name: "seen", within: "2d", frequency: { min: 2 } } },
  ]);
}

/** A journey without loops. @param channels the ids of its channels */
export function journeyOf(random: Random, channels: readonly string[]) {
  const length = random.between(2, 7);
  const steps: Record<string, object> = {};
  const after = (i: number) => (i + 1 < length ? `s${random.between(i + 1, length - 1)}` : "end");
  for (let i = 0; i < length; i++)
    steps[`s${i}`] = random.pick([
      {
        send: {
          channel_ids: random.chance(0.3) ? [...channels] : [random.pick(channels)],
          content: { title: `Hi ${i}`, body: random.pick(["b", "{{ event.n }}", "{{ subscriber.attributes.plan }}"]) },
          ...(random.chance(0.3) && { topic: "news" }),
          ...(random.chance(0.2) && { category: "transactional" }),
          next: after(i),
        },
      },
      { delay: { duration: random.pick(DURATIONS), next: after(i) } },
      // biome-ignore lint/suspicious/noThenProperty: it is a field of the API
      { branch: { condition: conditionOf(random), then: after(i), else: after(i) } },
      {
        wait_for_event: {
          event_name: random.pick(["paid", "seen"]),
          within: random.pick(DURATIONS),
          ...(random.chance(0.4) && { where: { n: { $gte: random.between(0, 6) } } }),
          on_event: after(i),
          on_timeout: after(i),
        },
      },
    ]);
  const exits = random.pick([
    undefined,
    undefined,
    [{ event: { name: "left" } }],
    [{ event: { name: "paid", where: { n: { $gt: 7 } } } }],
  ]);
  return {
    steps: graphOf({ ...steps, end: "exit" } as never, exits as never),
    entry_rules: random.chance(0.4) ? { eligibility: conditionOf(random) } : null,
  };
}

/** What happens to a person: the first event starts the journey. @param trigger its name */
export function happeningsOf(random: Random, trigger: string): { after: number; event_name: string; n: number }[] {
  const some = Array.from({ length: random.between(0, 8) }, () => ({
    after: random.pick([random.between(1, 90) * MINUTE, random.between(1, 60) * HOUR, random.between(1, 12) * DAY]),
    event_name: random.pick(["paid", "seen", "seen", "left", "other"]),
    n: random.between(0, 9),
  }));
  return [{ after: random.between(0, 600) * MINUTE, event_name: trigger, n: random.between(0, 9) }, ...some].sort(
    (a, b) => a.after - b.after,
  );
}
