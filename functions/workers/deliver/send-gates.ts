// Whether a send may go on, asked before a chunk, before each of its groups, and again where what came in between took
// long (docs/decisions/0068). All chunks of an environment share an answer for a moment, so that a pause, suspension or
// deletion takes hold within a group of calls and costs next to nothing otherwise (AMB-112, AMB-113).
import { SECOND } from "../../../shared/kernel/clock.ts";
import type { Capability } from "../../../shared/kernel/deps.ts";
import { recent } from "../../../shared/store/recent.ts";
import { findJob, type Job } from "../../../shared/store/sends/jobs/jobs.ts";
import { type SendState, sendStateOf } from "../../../shared/store/sends/jobs/send-state.ts";
import type { WorkspaceRecord } from "../../../shared/store/workspaces/workspaces.ts";
import { holdsBrake } from "./brake.ts";
import type { WorkerContext } from "./rounds.ts";

/** How long an answer is used. */
const FRESH_MS = 250;
/** Nothing is handed over on an answer that is older, counted from the moment it was asked for. */
const OLD_MS = 3 * SECOND;
/** How often it is asked for again while the table takes longer than that. */
const MAX_READS = 3;
const MAX_JOBS = 100;

interface Answer {
  at: number;
  sendState: Promise<SendState>;
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

/** What was read of a send a moment ago. */
interface Known {
  job: Job;
  /** Its workspace, and when the read of both began. */
  with?: { owner: WorkspaceRecord | undefined; asked: number };
}

/** @param known what is not read again */
export const askGate = (context: WorkerContext, id: string, known?: Known): Promise<SendState> =>
  newest(context, id, FRESH_MS, known);

/** Asks right before messages are handed over: it reads only if the last answer is old. */
export const confirmGate = (context: WorkerContext, id: string): Promise<SendState> => newest(context, id, OLD_MS);

/** Whether what was read at this time is too old to hand anything over on it. */
export const isOld = ({ clock }: Pick<WorkerContext, "clock">, at: number): boolean => clock.now() - at > OLD_MS;

async function newest(context: WorkerContext, id: string, within: number, known?: Known): Promise<SendState> {
  for (let reads = 1; reads <= MAX_READS; reads++) {
    const answer = answerOf(context, id, reads === 1 ? within : OLD_MS, reads === 1 ? known : undefined);
    const sendState = await answer.sendState;
    if (sendState !== "open" || !isOld(context, answer.at)) return sendState;
  }
  throw new Error("It took too long to read whether a send may go on.");
}

function answerOf(context: WorkerContext, id: string, within: number, known?: Known): Answer {
  const { store, workspace, clock, gates } = context;
  const name = `${store.tenant} ${id}`;
  const cached = gates.get(name);
  if (cached && clock.now() - cached.at < within) return cached;
  const ask = async (): Promise<SendState> => {
    const job = known?.job ?? (await findJob(store, id));
    if (!job) return "ended";
    const read = async () => {
      if (known?.with) return known.with.owner;
      const owner = await workspace();
      answer.owner = owner;
      return owner;
    };
    const sendState = await sendStateOf(store, read, job);
    return sendState !== "open" || (await holdsBrake(context, job)) ? sendState : "halted";
  };
  const at = known?.with?.asked ?? clock.now();
  const sendState = ask().catch((error) => {
    gates.delete(name);
    throw error;
  });
  const answer: Answer = { at, sendState, owner: known?.with?.owner };
  gates.set(name, answer);
  return answer;
}

/** The workspace of a send, as the gate read it before this group: it costs no read of its own. */
export async function ownerOf(
  { store, workspace, gates }: Pick<WorkerContext, "store" | "workspace" | "gates">,
  id: string,
): Promise<WorkspaceRecord | undefined> {
  return gates.get(`${store.tenant} ${id}`)?.owner ?? workspace();
}
