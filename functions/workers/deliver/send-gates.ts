// Whether a send may go on, asked before a chunk and before each of its groups. All chunks of an environment share an
// answer for a moment, so that a pause, suspension or deletion takes hold within a group of calls and costs next to
// nothing otherwise (AMB-112, AMB-113).
import type { Capability } from "../../../shared/deps.ts";
import { recent } from "../../../shared/store/recent.ts";
import { findJob, type Job } from "../../../shared/store/sends/jobs.ts";
import { type Standing, standingOf } from "../../../shared/store/sends/standing.ts";
import type { WorkspaceRecord } from "../../../shared/store/workspaces/workspaces.ts";
import { holdsBrake } from "./brake.ts";
import type { WorkerContext } from "./rounds.ts";

/** How long an answer is used. */
const FRESH_MS = 250;
const MAX_JOBS = 100;

interface Answer {
  at: number;
  standing: Promise<Standing>;
  /** The workspace as it was read for this. */
  owner?: WorkspaceRecord | undefined;
}

/** The newest answers of an environment, by workspace and job. */
export const sendGates: Capability<"gates", ReturnType<typeof recent<Answer>>> = {
  as: "gates",
  env: [],
  grants: [],
  open: () => {
    const gates = recent<Answer>(MAX_JOBS);
    return () => gates;
  },
};

/** @param known the job as it was read a moment ago; else it is read with the rest */
export async function askGate(context: WorkerContext, id: string, known?: Job): Promise<Standing> {
  const { store, workspace, clock, gates } = context;
  const name = `${store.tenant} ${id}`;
  const cached = gates.get(name);
  if (cached && clock.now() - cached.at < FRESH_MS) return cached.standing;
  const ask = async (): Promise<Standing> => {
    const job = known ?? (await findJob(store, id));
    if (!job) return "ended";
    const read = async () => {
      const owner = await workspace();
      answer.owner = owner;
      return owner;
    };
    const standing = await standingOf(store, read, job);
    return standing !== "open" || (await holdsBrake(context, job)) ? standing : "halted";
  };
  const standing = ask();
  const answer: Answer = { at: clock.now(), standing };
  gates.set(name, answer);
  return standing.catch((error) => {
    gates.delete(name);
    throw error;
  });
}

/** The workspace of a send, as the gate read it before this group: it costs no read of its own. */
export async function ownerOf(
  { store, workspace, gates }: Pick<WorkerContext, "store" | "workspace" | "gates">,
  id: string,
): Promise<WorkspaceRecord | undefined> {
  return gates.get(`${store.tenant} ${id}`)?.owner ?? workspace();
}
