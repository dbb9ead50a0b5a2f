// Nothing leaves a sandbox but to its outbox; its clock goes on when the work of a moment is done, and never back; no
// timer of the time that was moved is left; and a move that was answered ends (F4).
import { MINUTE, SECOND } from "../../../shared/kernel/clock.ts";
import type { Item } from "../../../shared/store/model.ts";
import { isSandbox } from "../../../shared/store/sandbox/sandbox.ts";
import type { Invariant } from "../invariant.ts";
import { timeIn, timeOf } from "../sandbox-time.ts";

/** A worker reads the time and whether work is open, and its write may take so long: others have gone on meanwhile. */
const WRITTEN_MS = 150 * SECOND;
/** Work that began longer ago is given up. */
const GIVEN_UP_MS = 15 * MINUTE;
/** Another move takes the place of one without progress for so long. */
const TAKEN_OVER_MS = 45 * MINUTE;
/** A timer that no move comes to is forwarded with its minute, which a schedule fires up to a minute late. */
const FORWARDED_MS = 3 * MINUTE;

export const sandboxes: Invariant = {
  name: "sandboxes",
  watch: (world, broken) => {
    const { kernel, mirror, ledger, profile, receivers } = world;
    const apartMs = 2 * profile.skewMs;
    world.onProviderCall(({ message: { tenant }, job, isRecorded = false }) => {
      if (isSandbox(tenant) && !isRecorded)
        broken(`a message of the sandbox ${tenant} went to a provider`, job, tenant);
    });
    const checkTime = (tenant: string, before: Item, after: Item) => {
      const isStep = before.clock_still !== undefined && after.clock_still !== undefined;
      const allowed = isStep ? 0 : apartMs + (before.clock_still === undefined ? WRITTEN_MS : 0);
      const ahead = timeIn(after, kernel.now()) - timeIn(before, kernel.now());
      if (ahead < -allowed) broken(`the time of ${tenant} went back by ${-ahead} ms`, tenant);
      if (before.clock_still === undefined || ahead === 0) return;
      const [work = {}] = mirror.under(`T#${tenant}#SANDBOX-WORK`).values();
      for (const [mark, began] of Object.entries(work)) {
        const ms = kernel.now() - Number(began);
        if (mark.startsWith("on:") && ms > WRITTEN_MS + apartMs && ms < GIVEN_UP_MS - apartMs)
          broken(`the clock of ${tenant} went on while ${mark} was worked on for ${ms} ms`, tenant, mark.slice(3));
      }
    };
    const checkMove = (tenant: string, before: Item, after: Item) => {
      if (before.status !== "running" || before.id === after.id) return;
      const ms = kernel.now() - Number(before.progress_at);
      if (ms < TAKEN_OVER_MS - WRITTEN_MS - apartMs)
        broken(`a move of ${tenant} took another's place after ${ms} ms`, tenant);
    };
    return {
      commit: ({ pk, before, after }) => {
        const [place, tenant = ""] = pk.split("#");
        if (!before || !after || !isSandbox(tenant)) return;
        if (place === "TENANT") checkTime(tenant, before, after);
        if (place === "CLOCK") checkMove(tenant, before, after);
      },
      end: () => {
        for (const { tenant, now, seen } of ledger.clocks)
          if (now < seen) broken(`${tenant} was shown a time ${seen - now} ms before the end of a move`, tenant);
        for (const { id } of ledger.tenants.values()) if (isSandbox(id)) checkRest(id);
        for (const { url } of receivers.posts)
          if (ledger.sandboxHooks.has(url)) broken(`a webhook of a sandbox was posted to ${url}`);
      },
    };

    function checkRest(tenant: string): void {
      const now = timeOf(world, tenant);
      const [row] = mirror.under(`TENANT#${tenant}`).values();
      const [move] = mirror.under(`CLOCK#${tenant}`).values();
      if (move?.status === "running") broken(`the move ${move.id} of ${tenant} never ended`, tenant, String(move.id));
      if (row?.clock_still !== undefined) broken(`the time of ${tenant} stands still`, tenant);
      if (move && now < Number(move.to) - apartMs) broken(`${tenant} did not come to the end of its move`, tenant);
      for (const { at, sk } of mirror.under(`T#${tenant}#SANDBOX`).values())
        if (Number(at) < now - FORWARDED_MS) broken(`the timer ${sk} of ${tenant} was never forwarded`, tenant);
    }
  },
};
