// The memory of an environment between messages, and the reads that its messages share.
import type { Clock } from "../../../shared/kernel/clock.ts";
import type { Capability } from "../../../shared/kernel/deps.ts";
import { recent } from "../../../shared/store/recent.ts";
import type { BrakeView } from "../../../shared/store/sends/jobs/brake.ts";
import type { SendState } from "../../../shared/store/sends/jobs/send-state.ts";
import { type JointRead, openJointReads } from "../../../shared/store/table.ts";
import { WorkspaceItem } from "../../../shared/store/workspaces/items.ts";
import type { WorkspaceRecord } from "../../../shared/store/workspaces/workspaces.ts";
import type { OpenedChannel } from "./channel-credentials.ts";

type Memory<N extends string, T> = Capability<N, ReturnType<typeof recent<T>>>;

/** The newest entries of an environment, at most `max`. */
function remembered<T, const N extends string>(as: N, max: number): Memory<N, T> {
  const open = () => {
    const entries = recent<T>(max);
    return () => entries;
  };
  return { as, env: [], grants: [], open };
}

interface CachedValue<T> {
  /** When the read began, in milliseconds. */
  at: number;
  value: Promise<T>;
}

/**
 * Reads at most once in `ms`. Callers in between share the read, also while it is in progress. A failed read is
 * forgotten.
 */
export function readShared<T>(
  { now }: Pick<Clock, "now">,
  memory: ReturnType<typeof recent<CachedValue<T>>>,
  name: string,
  { ms, read }: { ms: number; read: () => Promise<T> },
): Promise<T> {
  const last = memory.get(name);
  if (last && now() - last.at < ms) return last.value;
  const value = read().catch((error) => {
    memory.delete(name);
    throw error;
  });
  memory.set(name, { at: now(), value });
  return value;
}

/** Whether sends may go on, by workspace and job. */
export interface GateAnswer {
  /** When the answer was requested, in milliseconds. */
  at: number;
  sendState: Promise<SendState>;
  /** The answer came, and the send is stopped. */
  isStopped?: true;
  owner?: WorkspaceRecord | undefined;
}
export const sendGates: Memory<"gates", GateAnswer> = remembered("gates", 100);

/** The figures of sends with a brake, by workspace and job. */
export const sendFigures: Memory<"figures", CachedValue<BrakeView>> = remembered("figures", 100);

/** The rates of channels, by workspace and channel; undefined for one that has none. */
export const foundRates: Memory<"rates", CachedValue<number | undefined>> = remembered("rates", 100);

/** When an answer of a provider was last noted, by workspace, channel and error. */
export const notedAnswers: Memory<"noted", number> = remembered("noted", 500);

/** Opened credentials, by their version at the dispatch of the send. */
export const openedCredentials: Memory<"opened", CachedValue<OpenedChannel>> = remembered("opened", 100);

/** Rows of a workspace, read with the workspace itself. */
export const jointReads: Capability<"jointRead", JointRead> = {
  as: "jointRead",
  env: ["TABLE_NAME"],
  grants: [{ actions: ["dynamodb:BatchGetItem"], on: "table" }],
  open: (deps) => openJointReads(deps, (tenant) => WorkspaceItem.pk({ tenant })),
};
