// How a recipient and a send end (D-NTF-STATE, AMB-142).
import { jobClosed } from "./campaign-moves.ts";
import { notifyHooks } from "./hooks.ts";
import type { Body } from "./kit.ts";
import type { Job, Recipient } from "./records/sends.ts";
import type { World } from "./world.ts";

/** Who waits for the end of quiet hours is deferred, also with a message in the inbox already. */
export function conclude(recipient: Recipient): void {
  if (recipient.deferred_until !== null) return;
  const states: string[] = recipient.deliveries.map(({ state }) => state);
  recipient.state = ["delivered", "bounced", "pending", "failed"].find((one) => states.includes(one)) ?? "skipped";
  if (recipient.state === "pending") return;
  const isSkip = recipient.state === "skipped";
  follow(recipient, isSkip ? `skipped:${recipient.reasons.join("|")}` : recipient.state);
}

/** AMB-142: a step's outcome follows what became of its message. Whose mail came back may be reached by another channel. */
function follow({ outcome, state }: Recipient, now: string): void {
  if (outcome && ["sent", "bounced", "failed"].includes(outcome.outcome))
    outcome.outcome = state === "delivered" ? "sent" : now;
}

export function closeIfDone(world: World, job: Job): void {
  if (job.status !== "processing") return;
  const isOpen = job.recipients.some(
    ({ state, deliveries }) =>
      ["pending", "deferred"].includes(state) || deliveries.some((delivery) => delivery.state === "pending"),
  );
  if (!isOpen) close(world, job, null);
}

/** What a cap or a topic skipped late is no send (docs/decisions/0093). */
const isSent = ({ deliveries }: Recipient): boolean => deliveries.some(({ state }) => state !== "skipped");

/** D-NTF-STATE: `failed` for a cause of the job, or when every delivery failed; nobody to send to is `completed`. */
export function close(world: World, job: Job, cause: Body): void {
  const states = job.recipients.map(({ state }) => state);
  const delivered = states.filter((state) => state === "delivered").length;
  const failed = states.filter((state) => state === "failed").length;
  job.status = cause || (failed > 0 && delivered === 0) ? "failed" : "completed";
  job.error = cause;
  job.completed_at = world.now;
  if (!cause) job.sent = job.recipients.filter(isSent).length;
  if (job.taken) job.taken.sends = cause ? 0 : job.sent;
  const data = { job_id: job.id, status: job.status, delivered, failed, total: delivered + failed };
  notifyHooks(world, "notification.terminal", data);
  jobClosed(world, job);
}

/** NTF-10: before its time only. It is over at that moment. */
export function cancelJob(world: World, job: Job): void {
  Object.assign(job, { status: "canceled", completed_at: world.now });
  jobClosed(world, job);
}
