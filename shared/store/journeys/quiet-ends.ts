// The end of the quiet hours for messages of steps: the following steps keep their distance to it (AMB-136).
import { quietUntil } from "../../rules/quiet-hours.ts";
import type { StoreReader } from "../context.ts";
import { candidatesById } from "../sends/audience/candidates.ts";
import { zoneFor } from "../sends/chunks/deferred.ts";
import { getProfiles } from "../subscribers/subscribers.ts";
import type { WorkspaceRecord } from "../workspaces/workspaces.ts";
import type { SendNode } from "./sends.ts";
import { openPlans, quietEndFor } from "./simulated-sends.ts";

interface Deps {
  store: StoreReader;
  workspace(): Promise<WorkspaceRecord | undefined>;
}

/** Outside of quiet hours it reads the workspace, once, and the profile if each subscriber has hours of their own. */
export function openQuietEnds({ store, workspace }: Deps) {
  let planOf: ReturnType<typeof openPlans> | undefined;
  let read: ReturnType<Deps["workspace"]> | undefined;
  return async (node: SendNode, subscriber: string, now: number): Promise<number | undefined> => {
    if (node.send.category === "transactional") return undefined;
    read ??= workspace();
    const record = await read;
    const quiet = record?.quiet_hours;
    if (!quiet) return undefined;
    const [profile] = quiet.timezone_mode === "subscriber" ? await getProfiles(store, [subscriber]) : [];
    if (quietUntil(quiet, zoneFor(quiet, record.timezone, profile), now) === undefined) return undefined;

    planOf ??= openPlans({ store, workspace: record });
    const plan = await planOf(node);
    if (!plan) return undefined;
    const [candidate] = await candidatesById(store, [subscriber], plan.rules);
    return quietEndFor(store, plan, candidate, now);
  };
}
