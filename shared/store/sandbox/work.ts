// The work of a sandbox: done at its time, and noted for the mover of its clock (docs/decisions/0072).
import { WORKER_TIMEOUT_SECONDS } from "../../contract/messages.ts";
import { MINUTE, SECOND } from "../../kernel/clock.ts";
import { type Deps, perEnvironment } from "../../kernel/deps.ts";
import type { TenantId } from "../../kernel/ids.ts";
import { openWorkspaceTable } from "../table.ts";
import { SandboxWork } from "./items.ts";
import { depsFor } from "./sandbox.ts";

interface SandboxWorkplace {
  /**
   * Does work of a sandbox at its time, and notes it as in progress for the mover of its clock, each attempt
   * separately, because a message may come twice at once. Work that throws, or whose worker dies, stays noted: it will
   * be delivered again.
   */
  during(tenant: TenantId, names: readonly string[], work: (inside: Deps) => Promise<void>): Promise<void>;
}

export const sandboxWork = /* @__PURE__ */ perEnvironment(
  "sandboxWork",
  {
    env: ["TABLE_NAME"],
    grants: [{ actions: ["dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:UpdateItem"], on: "table" }],
  },
  (deps): SandboxWorkplace => ({
    during: async (tenant, names, work) => {
      const table = openWorkspaceTable(deps)(tenant);
      const began = deps.clock.now();
      const attempt = deps.ids.uuid();
      const ownMarks = names.map((name) => `on:${name}#${attempt}` as const);
      const failedMarks = names.map((name) => `on:${name}` as const);
      const noted = (all: readonly Mark[]) => Object.fromEntries(all.map((mark) => [mark, began]));
      const row = await table.change(SandboxWork, {}, { set: { ...noted(ownMarks), worked_at: began } });
      try {
        await work(await depsFor(deps, tenant));
      } catch (error) {
        await table.change(SandboxWork, {}, { set: noted(failedMarks), remove: ownMarks });
        throw error;
      }
      const now = deps.clock.now();
      const crashed = marksIn(row).filter(
        (mark) => failedMarks.some((name) => mark.startsWith(`${name}#`)) && Number(row[mark]) < now - ATTEMPT_MS,
      );
      const seen = { set: { worked_at: now }, remove: [...ownMarks, ...failedMarks, ...crashed] };
      await table.change(SandboxWork, {}, seen);
    },
  }),
);

type Mark = `on:${string}`;
const marksIn = (row: object = {}): Mark[] => Object.keys(row).filter((name): name is Mark => name.startsWith("on:"));

/** An attempt that began longer ago is over. */
const ATTEMPT_MS = WORKER_TIMEOUT_SECONDS * SECOND;
/** Work that began longer ago is given up: its message is in the dead-letter queue, or was handled twice. */
const OPEN_MS = 15 * MINUTE;

/** Whether work is open, and when the last was seen, in real time. What was given up is forgotten. */
export async function openWork(deps: Deps, tenant: TenantId): Promise<{ isOpen: boolean; workedAt: number }> {
  const table = openWorkspaceTable(deps)(tenant);
  const row = await table.get(SandboxWork, {});
  const marks = marksIn(row);
  const since = deps.clock.now() - OPEN_MS;
  const open = marks.filter((mark) => Number(row?.[mark]) > since);
  const givenUp = marks.filter((mark) => !open.includes(mark));
  if (givenUp.length > 0) await table.change(SandboxWork, {}, { remove: givenUp });
  return { isOpen: open.length > 0, workedAt: row?.worked_at ?? 0 };
}
