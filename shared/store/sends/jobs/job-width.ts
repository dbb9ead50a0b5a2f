// Whether the jobs of a workspace are spread over 16 partitions, as an environment sees it (docs/decisions/0022).
import { SECOND } from "../../../kernel/clock.ts";
import { perEnvironment } from "../../../kernel/deps.ts";
import type { Store } from "../../context.ts";
import { recent } from "../../recent.ts";
import type { JobKind } from "./job-ids.ts";
import { JobWidth } from "./job-items.ts";

/** Jobs a second of one environment beyond which a workspace's jobs are spread. Those of journeys have a transaction each. */
const MAX_NARROW_PER_SECOND: Record<JobKind, number> = { api: 20, journey: 5, authored: 20 };
const MAX_CACHED_WORKSPACES = 1_000;

export interface JobWidths {
  /** Counts a job that is about to be made. @returns whether it belongs in one of the shards; the lists know them then. */
  isWide(store: Pick<Store, "tenant" | "clock" | "change">, kind: JobKind): Promise<boolean>;
}

export const jobWidths = /* @__PURE__ */ perEnvironment("jobWidths", {}, (): JobWidths => {
  const cache = recent<{ second: number; jobs: number; isSpread: boolean }>(MAX_CACHED_WORKSPACES);
  return {
    isWide: async (store, kind) => {
      const second = Math.floor(store.clock.now() / SECOND);
      const name = `${store.tenant} ${kind}`;
      const state = cache.get(name) ?? { second, jobs: 0, isSpread: false };
      cache.set(name, state);
      if (state.second !== second) Object.assign(state, { second, jobs: 0 });
      state.jobs++;
      if (state.isSpread || state.jobs <= MAX_NARROW_PER_SECOND[kind]) return state.isSpread;
      await store.change(JobWidth, {}, { set: { [kind]: true } });
      state.isSpread = true;
      return true;
    },
  };
});
