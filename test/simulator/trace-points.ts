// Trace points that several scenarios have: a worker is held up, crashes or is overtaken exactly where it matters.
import { SECOND } from "../../shared/kernel/clock.ts";
import { keysOf } from "./requests.ts";
import type { SimWorld } from "./world.ts";

/** A lease is 70 seconds: another worker takes over then, and a late request arrives after it. */
const AFTER_LEASE_MS = { from: 71 * SECOND, to: 115 * SECOND };

/** The chunk whose claim a request of a worker writes, as a message names it. */
function claimedIn({ mirror }: SimWorld, operation: string, input: Parameters<typeof keysOf>[1]): object | undefined {
  for (const { pk, sk } of keysOf(operation, input)) {
    const [, tenant, kind, job] = pk.split("#");
    const [of, range, n] = sk.split("#");
    // A first claim meets no other one.
    if (mirror.get(pk, sk)?.owner === undefined) continue;
    if (kind === "J" && of === "K") return { tenant, job, range, chunk: Number(n) };
    if (kind === "JOB" && operation === "UpdateItem") return { tenant, job: sk, range: "solo", chunk: 0 };
  }
  return undefined;
}

const writes = new Set(["UpdateItem", "TransactWriteItems"]);

/**
 * A write of a claim is on its way while another worker has the chunk: its own worker is gone and its lease ends, or the
 * message came twice and both found the chunk released.
 */
export function delayClaims(world: SimWorld): void {
  const { random, kernel, fleet, profile, queues } = world;
  if (profile.crash === 0) return;
  let left = random.between(0, 2);
  world.onRequest((process, _, operation, input) => {
    if (process.name !== "deliver" || !process.alive || left === 0 || !writes.has(operation)) return undefined;
    const message = claimedIn(world, operation, input);
    if (!message || !random.chance(0.5)) return undefined;
    left--;
    const again = () => void queues.send("deliver", message);
    kernel.after(random.between(1, 2 * SECOND), again);
    // Without progress it is a take-over.
    const isTakeOver = operation === "UpdateItem" && !JSON.stringify(input).includes('"progress"');
    if (isTakeOver && random.chance(0.7)) return random.between(3 * SECOND, 20 * SECOND);
    kernel.after(1, () => fleet.crash(process, "the write of a claim is on its way"));
    return random.between(AFTER_LEASE_MS.from, AFTER_LEASE_MS.to);
  });
}

/** A worker crashes right after a write, before it gets the reply. */
export function crashAfter(
  world: SimWorld,
  name: string,
  is: (operation: string, keys: readonly { pk: string; sk: string }[]) => boolean,
): void {
  const { random, kernel, fleet, profile } = world;
  if (profile.crash === 0) return;
  let left = random.between(0, 2);
  world.onRequest((process, _, operation, input) => {
    if (process.name !== name || !process.alive || left === 0 || !writes.has(operation)) return undefined;
    if (!is(operation, keysOf(operation, input)) || !random.chance(0.4)) return undefined;
    left--;
    kernel.after(1, () => fleet.crash(process, `after ${operation}`));
    return undefined;
  });
}
