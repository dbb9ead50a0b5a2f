// A send that was stopped shows everybody of its audience once: its totals add up, and its list says the same of each.
import { itemsOf, jobRowsOf } from "../entities.ts";
import type { Invariant } from "../invariant.ts";
import { ask, askForJobs } from "../questions.ts";
import type { Tenant } from "../tenants.ts";
import type { SimWorld } from "../world.ts";

const ROUTE = "GET /api/v1/notifications/{id}/recipients";

export const stoppedSends: Invariant = {
  name: "stopped-sends",
  watch: (world, broken) => ({
    end: async () => {
      const { mirror, ledger } = world;
      for (const { tenant, item } of itemsOf(mirror, "JOB")) {
        if (item.status !== "canceled" || item.ranges === undefined) continue;
        const { chunks, claims } = jobRowsOf(mirror, tenant, String(item.id));
        const open = chunks.length - claims.filter(({ closed }) => closed === true).length;
        if (open !== 0) broken(`${open} chunks of the stopped job ${item.id} are open`, String(item.id));
      }
      for (const tenant of ledger.tenants.values())
        for (const job of (await askForJobs(world, tenant)) ?? []) {
          if (job.status !== "canceled") continue;
          const { id, counts, skip_reasons, fail_reasons } = job;
          const check = (what: string, shown: number, expected: number) => {
            if (shown !== expected) broken(`the stopped job ${id} shows ${what} ${shown}, not ${expected}`, id);
          };
          check("a total of", counts.total, counts.sent + counts.skipped + counts.held_out);
          check("sent", counts.sent, counts.delivered + counts.failed);
          check("reasons of skipped", sum(skip_reasons), counts.skipped);
          check("reasons of failures", sum(fail_reasons), counts.failed);
          const states = await statesOf(world, tenant, id);
          if (!states) continue;
          const listed = (...names: string[]) => names.reduce((total, name) => total + (states.get(name) ?? 0), 0);
          check("held out", counts.held_out, listed("held_out"));
          check("skipped", counts.skipped, listed("skipped", "canceled"));
          check("reached or failed", counts.sent, listed("delivered", "bounced", "failed", "uncertain"));
        }
    },
  }),
};

const sum = (numbers: Record<string, number>) => Object.values(numbers).reduce((total, n) => total + n, 0);

/** How many recipients a send's list has of each state; undefined if it was not answered. */
async function statesOf(world: SimWorld, tenant: Tenant, id: string): Promise<Map<string, number> | undefined> {
  const states = new Map<string, number>();
  let cursor = "";
  do {
    const { status, body } = await ask(world, tenant, ROUTE, {
      params: { id },
      query: { limit: "100", ...(cursor && { cursor }) },
    });
    if (status !== 200) return undefined;
    for (const { state } of body.items) states.set(state, (states.get(state) ?? 0) + 1);
    cursor = body.next_cursor;
  } while (cursor);
  return states;
}
