// Whether a send may go on: checked before a chunk, before each of its groups, and again if a step in between took long
// (docs/decisions/0068). All chunks of an environment share an answer for a moment, so that a pause, suspension or
// deletion takes effect within a group of calls, and the check costs next to nothing otherwise (AMB-112, AMB-113).
import { SECOND } from "../../../shared/kernel/clock.ts";
import type { JobRecord } from "../../../shared/store/sends/jobs/job-record.ts";
import { findJob } from "../../../shared/store/sends/jobs/jobs.ts";
import { type SendState, sendStateOf } from "../../../shared/store/sends/jobs/send-state.ts";
import type { WorkspaceRecord } from "../../../shared/store/workspaces/workspaces.ts";
import { breachNow, halt } from "./brake.ts";
import type { GateAnswer } from "./memory.ts";
import type { Work } from "./work.ts";

/** How long an answer is used. */
const FRESH_MS = 250;
/** Messages are not handed over on an answer older than this, counted from the moment of the request. */
const OLD_MS = 3 * SECOND;
/** How often the answer is requested again if the table takes longer than that. */
const MAX_READS = 3;

/** Checks before a chunk: its job, or more, was read just now. */
export const firstGate = (work: Work): Promise<SendState> => newest(work, FRESH_MS, { isRead: true });

export const askGate = (work: Work): Promise<SendState> => newest(work, FRESH_MS);

/** Checks right before messages are handed over. It reads only if the last answer is old. */
export const confirmGate = (work: Work): Promise<SendState> => newest(work, OLD_MS);

/** Whether a read of this time is too old to hand messages over on it. */
export const isOld = ({ clock }: Pick<Work, "clock">, at: number): boolean => clock.now() - at > OLD_MS;

async function newest(work: Work, within: number, { isRead = false } = {}): Promise<SendState> {
  for (let reads = 1; reads <= MAX_READS; reads++) {
    const isFirst = reads === 1;
    const answer = answerOf(work, isFirst ? within : OLD_MS, { isRead: isRead && isFirst });
    const sendState = await answer.sendState;
    if (sendState !== "open" || !isOld(work, answer.at)) return sendState;
  }
  throw new Error("It took too long to read whether a send may go on.");
}

const nameOf = ({ store, chunkRef }: Work): string => `${store.tenant} ${chunkRef.job}`;

function answerOf(work: Work, within: number, { isRead }: { isRead: boolean }): GateAnswer {
  const { store, workspace, clock, gates, chunkRef } = work;
  const cached = gates.get(nameOf(work));
  // The end of a stop sends one message to each chunk, so a chunk that follows a stop checks for itself.
  const mayHaveEnded = isRead && cached?.isStopped;
  if (cached && !mayHaveEnded && clock.now() - cached.at < within) return cached;
  const known = isRead ? work.known : undefined;
  const readOwner = async () => {
    if (known) return known.owner;
    const owner = await workspace();
    answer.owner = owner;
    return owner;
  };
  const readState = async (): Promise<SendState> => {
    const job = isRead ? work.job : await findJob(store, chunkRef.job);
    const found = job ? await haltIfBreached(work, job, await sendStateOf(store, readOwner, job)) : "ended";
    if (found !== "open") answer.isStopped = true;
    return found;
  };
  const sendState = readState().catch((error) => {
    gates.delete(nameOf(work));
    throw error;
  });
  const answer: GateAnswer = { at: known?.at ?? clock.now(), sendState, owner: known?.owner };
  gates.set(nameOf(work), answer);
  return answer;
}

/** The state of a send. It is halted here if its figures have passed a limit. */
async function haltIfBreached(work: Work, job: JobRecord, sendState: SendState): Promise<SendState> {
  const breach = sendState === "open" ? await breachNow(work, job) : undefined;
  if (!breach) return sendState;
  await halt(work, job, breach);
  return "halted";
}

/** The workspace of a send, as the gate read it before this group: this costs no further read. */
export async function ownerOf(work: Work): Promise<WorkspaceRecord | undefined> {
  return work.gates.get(nameOf(work))?.owner ?? work.workspace();
}
