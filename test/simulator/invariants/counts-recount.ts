// The numbers of a job are those of its rows: of its chunks, of its claims, of the inboxes; and the usage of a month is what they sent.
import { timeOfUuid } from "../../../shared/kernel/ids.ts";
import { lateSkips } from "../../../shared/rules/reasons.ts";
import type { Item } from "../../../shared/store/model.ts";
import { tallyOf } from "../../../shared/store/sends/chunks/tallies.ts";
import { periodAt } from "../../../shared/store/workspaces/usage.ts";
import { audienceOf, itemsOf, jobRowsOf, placeOf } from "../entities.ts";
import type { Invariant } from "../invariant.ts";

export const countsRecount: Invariant = {
  name: "counts-recount",
  watch: ({ mirror, ledger }, broken) => ({
    commit: ({ pk, before, after }) => {
      const place = placeOf(pk);
      if (place?.kind !== "JOB" || before?.status !== "processing" || !after || after.status === "processing") return;
      if (isStopped(after)) return;
      const job = String(after.id);
      const { counts, skip_reasons } = tallyOf(after);
      const { chunks, claims, ranges } = jobRowsOf(mirror, place.tenant, job);
      const { sent, heldOut, skipped } = audienceOf(chunks);
      // A recipient that is skipped late is in a chunk.
      const planned = [...skipped.values()].filter((reason) => lateSkips.some((late) => late === reason)).length;
      const late = sum(lateSkips.map((reason) => skip_reasons[reason] ?? 0)) - planned;
      const check = (what: string, shown: number, counted: number) => {
        if (shown !== counted) broken(`job ${job} shows ${what} ${shown}, its rows say ${counted}`, job);
      };
      check("sent", counts.sent, sent.size - late);
      check("held out", counts.held_out, heldOut.size);
      check("skipped", counts.skipped, skipped.size + late);
      check("total", counts.total, sent.size + heldOut.size + skipped.size);
      // What the API shows as the total before the send is completed.
      if (ranges.length > 0) check("planned", counts.total, sum(ranges.map(({ people }) => Number(people))));
      check("delivered and failed", counts.delivered + counts.failed, sent.size - late);
      // A subscriber that is erased between two attempts may count as not reached.
      const reached = [...(ledger.delivered.get(job)?.keys() ?? [])];
      const lasting = reached.filter((id) => ledger.people.get(id)?.erasingSince === undefined);
      const dispatched = new Set([...reached, ...(ledger.pushed.get(job) ?? [])]).size;
      const within = Math.min(Math.max(counts.delivered, lasting.length), dispatched);
      check("delivered", counts.delivered, within);
      check("delivered by claims", counts.delivered, sum(claims.map((claim) => tallyOf(claim).counts.delivered)));
    },
    end: () => {
      const byHour = new Map<string, number>();
      // A mail that came back has left the deliveries of its hour (AMB-139), and stays in the row of its job.
      for (const { tenant, item } of itemsOf(mirror, "HOURS"))
        for (const [name, n] of Object.entries(item))
          if (name.startsWith("delivered:") || /^k\|.*\|bounced$/.test(name))
            byHour.set(tenant, (byHour.get(tenant) ?? 0) + Number(n));
      const delivered = new Map<string, number>();
      const taken = new Map<string, number>();
      for (const { tenant, item } of itemsOf(mirror, "JOB")) {
        const { id } = item;
        const isInRanges = isStopped(item) && item.recipients === undefined;
        const rows = isInRanges ? jobRowsOf(mirror, tenant, String(id)).ranges : [item];
        // Mails without an answer are failed in the tally, and count in their hour once it is known what became of them.
        const late = sum([item["late:found"], item["late:missed"]].map((n) => Number(n ?? 0)));
        delivered.set(
          tenant,
          (delivered.get(tenant) ?? 0) + sum(rows.map((row) => tallyOf(row).counts.delivered)) + late,
        );
        const sent = sum(rows.map((row) => tallyOf(row).counts.sent));
        const reserved = Number(item.reserved ?? 0);
        if (reserved !== sent) broken(`job ${id} counts as ${reserved} sends, it sent to ${sent}`, String(id));
        const period = `${tenant} ${periodAt(takenAt(item)).name}`;
        taken.set(period, (taken.get(period) ?? 0) + sent);
      }
      for (const [tenant, n] of delivered)
        if (n !== (byHour.get(tenant) ?? 0))
          broken(`workspace ${tenant} counts ${byHour.get(tenant)} deliveries by the hour, its jobs ${n}`, tenant);
      const used = new Map<string, number>();
      for (const { tenant, item } of itemsOf(mirror, "USAGE"))
        if (item.events === undefined) used.set(`${tenant} ${item.sk}`, Number(item.sends ?? 0));
      for (const period of new Set([...taken.keys(), ...used.keys()])) {
        const [shown, sent] = [used.get(period) ?? 0, taken.get(period) ?? 0];
        if (shown !== sent)
          broken(`the usage of ${period} is ${shown} sends, its jobs sent to ${sent}`, period.split(" ")[0] ?? "");
      }
    },
  }),
};

/** What was halted and then canceled, or canceled by the deletion of its workspace, keeps its numbers in its ranges. */
const isStopped = ({ status, halted, error }: Item): boolean =>
  status === "canceled" && (halted !== undefined || error === "the workspace was deleted");

/** When its share of the quota was taken. */
const takenAt = ({ id, ahead, reserved_at, created_at }: Item): number =>
  ahead ? timeOfUuid(String(id)) : Number(reserved_at ?? Date.parse(String(created_at)));

const sum = (numbers: number[]) => numbers.reduce((total, n) => total + n, 0);
