// At rest, the counters of journeys match their runs, no subscriber has two active runs of a journey, no run is left
// between steps but before one that halted, and an archived journey has none that goes on.
import { rowOf } from "../../../shared/store/item.ts";
import { RunItem, type RunRow } from "../../../shared/store/journeys/run-items.ts";
import { placeOf } from "../entities.ts";
import type { Invariant } from "../invariant.ts";
import { timeOf } from "../sandbox-time.ts";

export const journeys: Invariant = {
  name: "journeys",
  watch: ({ mirror, kernel }, broken) => ({
    end: () => {
      const said = new Map<string, number>();
      const counted = new Map<string, number>();
      const status = new Map<string, string>();
      const tenants = new Map<string, string>();
      const halted = new Set<string>();
      const runs: RunRow[] = [];
      const add = (to: Map<string, number>, name: string, n: number) => to.set(name, (to.get(name) ?? 0) + n);
      for (const pk of mirror.partitions()) {
        const place = placeOf(pk);
        if (!place) continue;
        for (const [sk, item] of mirror.under(pk)) {
          if (place.kind === "journey" && place.id === "") {
            status.set(sk, String(item.status));
            tenants.set(sk, place.tenant);
          }
          if (item.react === "journey-step" && item.halted !== undefined)
            halted.add(`${place.id} ${item.version} ${item.step}`);
          const shard = place.kind === "journey" ? pk.split("#")[4] : undefined;
          const numbers = Object.entries(item).filter(([name]) => /^[rao]:/.test(name)) as [string, number][];
          if (shard?.startsWith("n")) for (const [name, n] of numbers) add(counted, `${place.id} ${name}`, n);
          if (place.kind === "U" && sk.startsWith("J#") && item.expires === undefined) runs.push(rowOf(RunItem, item));
          if (shard?.length === 1 && item.subscriber === undefined) {
            add(said, `${place.id} r:${item.status}`, 1);
            for (const [name, n] of numbers) add(said, `${place.id} ${name}`, n);
          }
        }
      }
      const active = new Set<string>();
      for (const run of runs) {
        const journey = run.journey_id;
        add(said, `${journey} r:${run.status}`, 1);
        for (const [name, n] of Object.entries(run))
          if (name.startsWith("o:")) add(said, `${journey} ${name}`, Number(n));
        if (run.status !== "active") continue;
        add(said, `${journey} a:${run.step}`, 1);
        const who = `${journey} ${run.subscriber_id}`;
        if (active.has(who)) broken(`${run.subscriber_id} is twice in journey ${journey}`, run.id, journey);
        active.add(who);
        if (status.get(journey) === "archived")
          broken(`run ${run.id} goes on although its journey is archived`, run.id, journey);
        if (status.get(journey) !== "active") continue;
        if (halted.has(`${journey} ${run.version} ${run.step}`)) continue;
        if (run.since === undefined) broken(`run ${run.id} was left before step ${run.step}`, run.id, journey);
        if (run.until !== undefined && run.until < timeOf({ kernel, mirror }, String(tenants.get(journey))) - 120_000)
          broken(`run ${run.id} is overdue at step ${run.step}`, run.id, journey);
      }
      for (const name of new Set([...said.keys(), ...counted.keys()])) {
        const [journey = ""] = name.split(" ");
        if (status.has(journey) && (said.get(name) ?? 0) !== (counted.get(name) ?? 0))
          broken(`${name} counts ${counted.get(name) ?? 0}, its runs are ${said.get(name) ?? 0}`, journey);
        if (!status.has(journey) && said.get(name)) broken(`${journey} is deleted and has runs`, journey);
      }
    },
  }),
};
