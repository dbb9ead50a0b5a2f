// No send in quiet hours or beyond a cap. Waiting recipients are counted, and at the end there are none.
import { DAY, MINUTE, SECOND } from "../../../shared/kernel/clock.ts";
import { isPseudonym } from "../../../shared/kernel/ids.ts";
import { isTerminal, type JobStatus } from "../../../shared/rules/job-states.ts";
import { quietUntil } from "../../../shared/rules/quiet-hours.ts";
import { itemsOf, jobRowsOf } from "../entities.ts";
import type { Invariant } from "../invariant.ts";

/** A worker that checked before the hours began may still be sending, and clocks differ. */
const UNDER_WAY_MS = 75 * SECOND;
const AHEAD_MS = 5 * SECOND;
/** How late a message may come where nothing goes wrong. */
const RELEASED_WITHIN_MS = MINUTE;

export const manners: Invariant = {
  name: "manners",
  watch: (world, broken) => {
    const { ledger, mirror, kernel, profile } = world;
    world.onProviderCall(({ job, subscriber }) => {
      const tenant = ledger.byJob.get(job)?.tenant ?? ledger.people.get(subscriber)?.tenant ?? "";
      const quiet = ledger.manners.get(tenant)?.quiet;
      if (!quiet) return;
      const zone = ledger.zones.get(subscriber) ?? "UTC";
      const ends = [-UNDER_WAY_MS, AHEAD_MS]
        .map((ms) => ms + Math.sign(ms) * profile.skewMs)
        .map((ms) => quietUntil(quiet, zone, kernel.now() + ms));
      if (ends.every((end) => end !== undefined))
        broken(`${subscriber} was disturbed by job ${job} in quiet hours`, job, subscriber);
      const send = ledger.byJob.get(job);
      const asked = send && Math.max(send.startedAt, send.scheduledAt ?? 0);
      const due = asked === undefined ? undefined : (quietUntil(quiet, zone, asked) ?? asked);
      const isPrompt = profile.name === "calm" && !ledger.everSuspended.has(tenant) && !ledger.putOff.has(job);
      if (isPrompt && due !== undefined && kernel.now() > due + RELEASED_WITHIN_MS)
        broken(`${subscriber} waited ${kernel.now() - due} ms too long for job ${job}`, job, subscriber);
    });
    return {
      commit: ({ pk, sk, after }) => {
        if (!pk.includes("#J#") || !sk.startsWith("R#") || !after) return;
        if (Number(after.deferred ?? 0) < 0) broken(`range ${sk} counts ${after.deferred} who wait`, pk.split("#")[3]!);
      },
      end: () => {
        const reached = new Map<string, Set<string>>();
        for (const [job, people] of [...ledger.delivered, ...ledger.pushed])
          for (const person of people.keys()) reached.set(person, (reached.get(person) ?? new Set()).add(job));
        for (const [person, jobs] of reached) {
          const { tenant = "", erasingSince } = ledger.people.get(person) ?? {};
          // An erasure removes the counters of caps. Its second pass removes what was sent meanwhile.
          if (erasingSince !== undefined) continue;
          const cap = ledger.manners.get(tenant)?.cap;
          const days = Math.floor(kernel.now() / DAY) - Math.floor(world.start / DAY) + 1;
          if (cap !== undefined && jobs.size > cap * days)
            broken(`${person} got ${jobs.size} messages in ${days} days, the cap is ${cap}`, person, ...jobs);
        }
        for (const { tenant, item: job } of itemsOf(mirror, "JOB")) {
          const { ranges, chunks } = jobRowsOf(mirror, tenant, String(job.id));
          const waiting = ranges.reduce((sum, { deferred }) => sum + Number(deferred ?? 0), 0);
          if (isTerminal(job.status as JobStatus) && waiting !== 0)
            broken(`job ${job.id} has ended and counts ${waiting} who wait`, String(job.id));
          const cap = ledger.manners.get(tenant)?.cap;
          const capped = Number(job["skip:capped"] ?? 0);
          if (cap === undefined && capped > 0) broken(`job ${job.id} was capped by no cap`, String(job.id));
          if (chunks.length === 0 && capped > 0)
            broken(`job ${job.id} counts capped recipients that it does not have`, String(job.id));
        }
        // Who was skipped by the cap has been counted up to it, and each count stands for a message that was tried.
        for (const pk of mirror.partitions()) {
          const [, tenant = "", kind, person = ""] = pk.split("#");
          const cap = ledger.manners.get(tenant)?.cap;
          if (kind !== "U" || cap === undefined || isPseudonym(person)) continue;
          const rows = [...mirror.under(pk)];
          const counts = rows.filter(([sk]) => sk.startsWith("F#")).map(([, row]) => Number(row.marketing ?? 0));
          const count = counts.reduce((sum, n) => sum + n, 0);
          const touches = rows.filter(([sk]) => sk.startsWith("R#")).map(([, row]) => row);
          if (touches.some(({ reason }) => reason === "capped") && !counts.includes(cap))
            broken(`${person} was capped after ${counts} of ${cap} messages`, person);
          const inbox = rows.filter(([sk]) => sk.startsWith("I#")).map(([, row]) => row.job);
          const tried = touches
            .filter(({ state }) => state !== "skipped" && state !== "held_out" && state !== "assigned")
            .map(({ job }) => job);
          if (count > new Set([...inbox, ...tried]).size)
            broken(`${person} counts ${count} messages and was sent ${new Set([...inbox, ...tried]).size}`, person);
        }
      },
    };
  },
};
