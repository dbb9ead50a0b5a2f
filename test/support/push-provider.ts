// Phones whose provider fails as a test says.
import { equip, fill } from "../../bench/people.ts";
import type { Fault, Faults } from "../../local/faults.ts";
import { openChannels } from "./reached.ts";
import type { Tenant, TestWorld } from "./world.ts";

/** The provider of pushes: it fails as `outcomeOf` says, and remembers every call. `providerFaults` are an option of a world. */
export function pushProvider() {
  const provider = { calls: [] as string[], outcomeOf: (_: string): Fault["outcome"] | undefined => undefined };
  const providerFaults: Pick<Faults, "take"> = {
    take: (channel, subscriber = "") => {
      if (channel !== "ios") return undefined;
      provider.calls.push(subscriber);
      const outcome = provider.outcomeOf(subscriber);
      return outcome && { channel, outcome };
    },
  };
  return { provider, providerFaults };
}

/** So many people with a phone each, and the channel that reaches them. */
export async function withPhones(world: TestWorld, tenant: Tenant, count: number) {
  const { ios: channel } = await openChannels(world, tenant, "ios-push");
  const ids = await fill(world, tenant, count);
  await equip(world, tenant, ids);
  await world.settle();
  return { channel, ids };
}
