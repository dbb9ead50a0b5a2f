// The work of a sandbox: its clock goes on only when no attempt is under way, a timer is sent before it is removed, and
// none is late by the time of the sandbox, whatever repairs it afterwards (docs/decisions/0072).
import { messagesOf } from "../../../shared/contract/due-kinds.ts";
import { WORKER_TIMEOUT_SECONDS } from "../../../shared/contract/messages.ts";
import { MINUTE, SECOND } from "../../../shared/kernel/clock.ts";
import type { TenantId } from "../../../shared/kernel/ids.ts";
import type { Item } from "../../../shared/store/model.ts";
import type { TimerWork } from "../../../shared/store/sandbox/items.ts";
import { isSandbox } from "../../../shared/store/sandbox/sandbox.ts";
import { placeOf } from "../entities.ts";
import type { Process } from "../fleet.ts";
import type { Invariant } from "../invariant.ts";
import { keysOf } from "../requests.ts";
import { timeOf } from "../sandbox-time.ts";

/** A step may be written so long after its worker looked at the timers. */
const WRITTEN_MS = 150 * SECOND;
/** How late a timer may be forwarded: without crashes nothing waits for a sweep. */
const LATE_MS = { plain: 6 * MINUTE, crashes: 20 * MINUTE };

export const sandboxWork: Invariant = {
  name: "sandbox-work",
  watch: (world, broken) => {
    const { kernel, mirror, profile, onRequest } = world;
    const processes = new Map<string, Process>();
    /** Attempts under way, by their processes, and when these began. */
    const attempts = new Map<string, { tenant: string; at: number }>();
    /** When a process last asked for the open work of a sandbox. */
    const asked = new Map<string, number>();
    const sent = new Set<string>();
    /** When a timer was stored, and the time of the sandbox from which on it can be forwarded. */
    const stored = new Map<string, { at: number; from: number }>();
    onRequest((process, service, operation, input) => {
      processes.set(process.label, process);
      if (operation === "SendMessageBatch")
        for (const { MessageBody } of input.Entries as { MessageBody: string }[]) sent.add(MessageBody);
      const isQuestion = service === "dynamodb" && operation === "GetItem";
      if (isQuestion && keysOf(operation, input).some(({ pk }) => placeOf(pk)?.kind === "SANDBOX-WORK"))
        asked.set(process.label, kernel.now());
      return undefined;
    });
    const noteWork = (tenant: string, by: string, before: Partial<Item> = {}, after: Partial<Item> = {}) => {
      const begins = Object.entries(after).some(([mark, at]) => /^on:.*#/.test(mark) && before[mark] !== at);
      if (begins) attempts.set(by, { tenant, at: kernel.now() });
      else attempts.delete(by);
    };
    const isUnderWay = (label: string, at: number): boolean => {
      const process = processes.get(label);
      const isOld = kernel.now() - at > WORKER_TIMEOUT_SECONDS * SECOND - 2 * profile.skewMs;
      return process?.alive === true && process.end !== undefined && !isOld;
    };
    const checkStep = (tenant: string, by: string, before: Item, after: Item) => {
      if (before.clock_still === undefined || before.clock_still === after.clock_still) return;
      const askedAt = asked.get(by) ?? 0;
      for (const [label, { tenant: of, at }] of attempts)
        if (of === tenant && at < askedAt && isUnderWay(label, at))
          broken(`the clock of ${tenant} went on while ${label} was at work for ${kernel.now() - at} ms`, tenant);
    };
    /** A step was on its way while a timer was stored, and went past it. */
    const excuse = (tenant: string) => {
      const pk = `T#${tenant}#SANDBOX`;
      for (const [sk, { at }] of mirror.under(pk)) {
        const found = stored.get(`${pk} ${sk}`);
        if (found && Number(at) < timeOf(world, tenant) && kernel.now() - found.at < WRITTEN_MS)
          found.from = timeOf(world, tenant);
      }
    };
    const checkTimer = (tenant: string, { pk, at, since, work, sk }: Item) => {
      const wanted = JSON.parse(String(work)) as TimerWork;
      const messages =
        wanted.kind === "message"
          ? [wanted.message]
          : messagesOf(wanted.due, [
              { tenant: tenant as TenantId, id: wanted.id, at: Number(at), since: Number(since) },
            ]);
      if (messages.some((message) => !sent.has(JSON.stringify(message))))
        broken(`the timer ${sk} of ${tenant} was removed and not sent`, tenant, String(sk));
      const late = timeOf(world, tenant) - Math.max(Number(at), stored.get(`${pk} ${sk}`)?.from ?? 0);
      if (late > (profile.crash > 0 ? LATE_MS.crashes : LATE_MS.plain))
        broken(`the timer ${sk} of ${tenant} was forwarded ${late} ms late`, tenant, String(sk));
    };
    return {
      commit: ({ pk, sk, by, before, after }) => {
        const [first, id = ""] = pk.split("#");
        if (!isSandbox(id)) return;
        if (first === "TENANT" && before && after) {
          checkStep(id, by, before, after);
          excuse(id);
        }
        const kind = placeOf(pk)?.kind;
        if (kind === "SANDBOX-WORK") noteWork(id, by, before, after);
        if (kind === "SANDBOX" && after) stored.set(`${pk} ${sk}`, { at: kernel.now(), from: timeOf(world, id) });
        else if (kind === "SANDBOX" && before) checkTimer(id, before);
      },
    };
  },
};
