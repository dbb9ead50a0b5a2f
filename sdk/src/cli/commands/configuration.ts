// Configuration as files: export, diff and apply.
import { appendFileSync, chmodSync } from "node:fs";
import { resolve } from "node:path";
import { ServiceError } from "../../errors.ts";
import { type Call, command, EXIT } from "../command.ts";
import { exportTo } from "../config/export.ts";
import { readFolder } from "../config/files.ts";
import { applyPlan, newNamesOf, type Plan, planOf, type Step } from "../config/plan.ts";
import { type Movement, movementsOf } from "../config/segments.ts";
import { readWorkspace } from "../config/workspace.ts";
import { type Connection, withConnection } from "../connection.ts";
import type { Io } from "../io.ts";

const folderOf = ({ io, args }: Call) => resolve(io.cwd, args[0] ?? "engagement");

async function planned(call: Call, connection: Connection) {
  const folder = readFolder(folderOf(call), call.io.env);
  const workspace = await readWorkspace(connection, newNamesOf(folder));
  return { plan: planOf(folder, workspace), workspace };
}

const shownStep = ({ kind, key, file, action, renames, changes, reason }: Step) => ({
  kind: kind.name,
  name: key,
  file,
  action,
  ...(renames !== undefined && { renamed_from: renames }),
  ...(changes.length > 0 && { changes }),
  ...(reason !== undefined && { reason }),
});

const marks = { create: "+", update: "~", finish: "~", left: "=", blocked: "!", same: "=" } as const;

function lineOf({ kind, key, action, renames, changes, reason }: Step): string {
  const details = [
    ...(renames === undefined ? [] : [`renamed from ${renames}`]),
    ...(action === "finish" ? ["members are computed anew"] : []),
    ...changes.filter((path) => !(renames !== undefined && path === "name")),
    ...(reason === undefined ? [] : [reason]),
  ];
  return `${marks[action]} ${kind.name}/${key}${details.length > 0 ? `  ${details.join(", ")}` : ""}`;
}

function sideOf({ count, sample }: Movement["entering"], verb: string): string {
  const more = count > sample.length ? ", …" : "";
  return `${count} would ${verb}${sample.length > 0 ? ` (${sample.join(", ")}${more})` : ""}`;
}

function printPlan(io: Io, { steps, onlyInWorkspace }: Plan, movements: readonly Movement[]): void {
  for (const step of steps) {
    if (step.action === "same" || step.action === "left") continue;
    io.out(lineOf(step));
    const moved = movements.find(({ key }) => step.kind.name === "segments" && key === step.key);
    if (moved) {
      const { entering, leaving, exact } = moved;
      io.out(`    ${exact ? "" : "about "}${sideOf(entering, "enter")}, ${sideOf(leaving, "leave")}`);
    }
  }
  const unchanged = steps.filter(({ action }) => action === "same" || action === "left").length;
  io.out(`${unchanged} unchanged, ${onlyInWorkspace.length} in the workspace alone`);
}

/** Adds the name of the file to a refusal. */
async function naming<T>(io: Io, work: (begin: (step: Step) => void) => Promise<T>): Promise<T> {
  let at: string | undefined;
  try {
    return await work(({ kind, key, file }) => {
      at = `${kind.name}/${key} (${file})`;
    });
  } catch (error) {
    if (error instanceof ServiceError && at !== undefined) io.note(`Stopped at ${at}.`);
    throw error;
  }
}

const isDifferent = ({ action }: Step) => action !== "same" && action !== "left";

export const exportConfiguration = command({
  name: "export",
  args: "[folder]",
  summary: "Write templates, segments, journeys and other configuration to files",
  about:
    "The folder is ./engagement unless it is named. A file that says what the workspace has already is not touched.\n" +
    "Exit code 6 if something was left out, such as two things of one name.",
  options: {},
  run: async (call) => {
    const { io, options } = call;
    return withConnection(io, options, async (connection) => {
      const { leftOut, written, unchanged, withIds, onlyInFolder } = exportTo(
        folderOf(call),
        await readWorkspace(connection),
        io.env,
      );
      if (options.json)
        io.out(
          JSON.stringify({ written, unchanged, left_out: leftOut, with_ids: withIds, only_in_folder: onlyInFolder }),
        );
      else {
        for (const file of written) io.out(`wrote ${file}`);
        for (const line of leftOut) io.out(`left out ${line}`);
        for (const line of withIds) io.out(`has an id of this workspace: ${line}`);
        for (const file of onlyInFolder) io.out(`not in the workspace: ${file}`);
        io.out(`${written.length} written, ${unchanged} unchanged`);
      }
      return leftOut.length > 0 ? EXIT.blocked : EXIT.ok;
    });
  },
});

export const diff = command({
  name: "diff",
  args: "[folder]",
  summary: "Show what apply would change, and who would enter and leave each segment",
  options: { "exit-code": { type: "boolean", about: "Exit code 5 if there are differences" } },
  run: async (call) => {
    const { io, options } = call;
    return withConnection(io, options, async (connection) => {
      const { plan } = await planned(call as Call, connection);
      const movements = await naming(io, (begin) => movementsOf(connection, plan.steps, begin));
      if (options.json) {
        const only_in_workspace = plan.onlyInWorkspace.map(({ kind, key }) => ({ kind, name: key }));
        const segments = movements.map(({ key, ...rest }) => ({ name: key, ...rest }));
        io.out(JSON.stringify({ steps: plan.steps.map(shownStep), segments, only_in_workspace }));
      } else printPlan(io, plan, movements);
      return options["exit-code"] && plan.steps.some(isDifferent) ? EXIT.different : EXIT.ok;
    });
  },
});

const applyOptions = {
  secrets: { type: "string", value: "<file>", about: "Where the secrets of new webhook endpoints are added" },
} as const;

async function carryOut(call: Call<typeof applyOptions>, connection: Connection): Promise<readonly Step[]> {
  const { io, options } = call;
  const { plan, workspace } = await planned(call as Call, connection);
  const progress = {
    done: (step: Step) => {
      if (!options.json) io.out(lineOf(step));
    },
    secret: (key: string, secret: string) => {
      if (options.secrets === undefined) return io.note(`The secret of ${key} was not kept: rotate it to see one.`);
      const file = resolve(io.cwd, options.secrets);
      appendFileSync(file, `${JSON.stringify({ webhook: key, secret })}\n`, { mode: 0o600 });
      chmodSync(file, 0o600);
    },
  };
  // A secret is shown only once, so the file must be writable before one is made.
  const hasSecrets = plan.steps.some(({ kind, action }) => kind.name === "webhooks" && action === "create");
  if (options.secrets !== undefined && hasSecrets)
    appendFileSync(resolve(io.cwd, options.secrets), "", { mode: 0o600 });
  try {
    await naming(io, (begin) => applyPlan(connection, plan, workspace, { ...progress, begin }));
  } catch (error) {
    if (error instanceof ServiceError) io.note("What is listed above is done; run apply again to go on.");
    throw error;
  }
  return plan.steps;
}

export const apply = command({
  name: "apply",
  args: "[folder]",
  summary: "Make the workspace as the files say",
  about:
    "Creates and changes; it deletes, activates, releases and sends nothing. Applied twice, the second time changes\n" +
    "nothing. If it is interrupted, run it again. Exit code 6 if something cannot be changed now.",
  options: applyOptions,
  run: async (call) => {
    const { io, options } = call;
    return withConnection(io, options, async (connection) => {
      const steps = await carryOut(call, connection);
      const blocked = steps.filter(({ action }) => action === "blocked");
      const changed = steps.filter(({ action }) => ["create", "update", "finish"].includes(action));
      if (options.json) io.out(JSON.stringify({ steps: steps.map(shownStep) }));
      else {
        for (const step of blocked) io.out(lineOf(step));
        io.out(
          `${changed.length} changed, ${blocked.length} blocked, ${steps.length - changed.length - blocked.length} unchanged`,
        );
      }
      return blocked.length > 0 ? EXIT.blocked : EXIT.ok;
    });
  },
});
