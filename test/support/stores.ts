// The store itself in tests: bound to a workspace named `shop`, with pauses skipped and calls that fail on demand.
import type { Hooks } from "../../local/aws/index.ts";
import { SECOND } from "../../shared/kernel/clock.ts";
import type { TenantId } from "../../shared/kernel/ids.ts";
import { openRows, type Rows } from "../../shared/store/rows.ts";
import { isOfWorkspace } from "../../shared/store/table.ts";
import type { TestWorld } from "./world.ts";

/** A key of the workspace `shop`, or of any other partition. */
export const at = (sk: string, pk = "T#shop#X") => ({ pk, sk });

/** The raw table under the guard of the workspace `shop`. */
export const storeOf = (world: TestWorld): { world: TestWorld; store: Rows } => ({
  world,
  store: openRows(world.depsFor("test"))(isOfWorkspace("shop" as TenantId)),
});

/** Moves service time until the work is done, because its pauses are service time. */
export async function patiently<T>(world: TestWorld, work: Promise<T>): Promise<T> {
  let done = false;
  const result = work.finally(() => {
    done = true;
  });
  result.catch(() => undefined);
  for (let n = 0; !done && n < 100; n++) await world.advance(SECOND);
  return result;
}

/** Fails the first calls of an operation on `shop`, before or after they have had their effect. */
export function failing(operation: string, times: number, when: "before" | "after", error: () => Error) {
  const seen = { calls: 0 };
  const hooks = (): Hooks => ({
    [when]: (_: string, called: string, input: object) => {
      if (called !== operation || !JSON.stringify(input).includes("T#shop")) return;
      seen.calls++;
      if (seen.calls <= times) throw error();
    },
  });
  return { hooks, seen };
}

export const connectionLost = (): Error => Object.assign(new Error("socket hang up"), { code: "ECONNRESET" });
