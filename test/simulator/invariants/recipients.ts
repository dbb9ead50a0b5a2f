// Every recipient of a send is in its audience once, in the right arm, with the right text in the inbox.
import { isPseudonym } from "../../../shared/kernel/ids.ts";
import { lateSkips } from "../../../shared/rules/reasons.ts";
import { armOf, isHeldOut } from "../../../shared/rules/split.ts";
import { laneOf } from "../../../shared/store/sends/jobs/job-ids.ts";
import { audienceOf, jobRowsOf } from "../entities.ts";
import type { Invariant } from "../invariant.ts";
import { fits, isSurelyIn, type Ledger, mustHold, type Send } from "../ledger.ts";

interface CheckedSend {
  job: string;
  send: Send;
  audience: ReturnType<typeof audienceOf>;
  ledger: Ledger;
  broken: Parameters<Invariant["watch"]>[1];
}

export const recipients: Invariant = {
  name: "recipients",
  watch: ({ ledger, mirror }, broken) => ({
    end: () => {
      for (const [job, send] of ledger.byJob) {
        const item = mirror.get(`T#${send.tenant}#${laneOf(job)}`, job);
        if (item?.status !== "completed") continue;
        const audience = audienceOf(jobRowsOf(mirror, send.tenant, job).chunks);
        const checked: CheckedSend = { job, send, audience, ledger, broken };
        checkSize(checked);
        checkNobodyIsLeftOut(checked);
        for (const id of [...audience.sent.keys(), ...audience.heldOut]) checkBelongs(checked, id);
        const isAnyLate = lateSkips.some((reason) => Number(item[`skip:${reason}`] ?? 0) > 0);
        const mayMiss = isAnyLate || Number(item["n:failed"] ?? 0) > 0;
        for (const [id, arm] of audience.sent) checkDelivery(checked, id, arm, mayMiss);
      }
    },
  }),
};

function checkSize({ job, send, audience: { sent, twice, skipped }, ledger, broken }: CheckedSend): void {
  if (twice.length > 0) broken(`job ${job} holds ${twice[0]} twice`, job, twice[0]!);
  if (send.small && send.sent !== undefined && send.sent !== sent.size)
    broken(`job ${job} promised ${send.sent} sends and made ${sent.size}`, job);
  for (const id of send.ids ?? [])
    if (!ledger.people.has(id) && !skipped.has(id)) broken(`job ${job} does not show the unknown ${id}`, job, id);
}

function checkNobodyIsLeftOut({ job, send, audience: { sent, heldOut, skipped }, ledger, broken }: CheckedSend): void {
  for (const person of ledger.people.values()) {
    const isIn = sent.has(person.id) || heldOut.has(person.id);
    // Somebody may have no address by the channels that were asked for, or not be in the topic.
    const mayBeSkipped = (send.channels ?? send.topic) !== undefined && skipped.has(person.id);
    if (isSurelyIn(ledger, send, person.id) && mustHold(send, person) && !isIn && !mayBeSkipped)
      broken(`job ${job} left out ${person.id}`, job, person.id);
  }
}

function checkBelongs({ job, send, audience: { heldOut }, ledger, broken }: CheckedSend, id: string): void {
  if (isPseudonym(id)) return;
  const person = ledger.people.get(id);
  if (person?.tenant !== send.tenant) broken(`job ${job} holds the stranger ${id}`, job, id);
  if (person && fits(send, person) === false) broken(`job ${job} holds ${id}, which its filters exclude`, job, id);
  if (send.group !== undefined && !ledger.members.get(send.group)?.maybe.has(id))
    broken(`job ${job} holds ${id}, who was never in its group`, job, id);
  if (send.ids && !send.ids.includes(id)) broken(`job ${job} holds ${id}, who was not asked for`, job, id);
  if (isHeldOut(job, id, send.holdout) !== heldOut.has(id)) broken(`job ${job}: holdout of ${id} is wrong`, job, id);
}

function checkDelivery({ job, send, ledger, broken }: CheckedSend, id: string, arm: unknown, mayMiss: boolean): void {
  if (isPseudonym(id)) return;
  const expected = send.splitShare === undefined ? undefined : armOf(job, id, send.splitShare);
  if (arm !== expected) broken(`job ${job}: ${id} is in arm ${arm}, not ${expected}`, job, id);
  const isReached = ledger.delivered.get(job)?.has(id) || ledger.pushed.get(job)?.has(id);
  if (!isReached && !mayMiss) broken(`job ${job} never reached ${id}`, job, id);
}
