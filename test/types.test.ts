// What must not compile: a handler that uses an undeclared capability, parameter or field.
// Each `@ts-expect-error` below is an error of `tsc` itself as soon as the line under it compiles.
import * as v from "valibot";
import { expect, it } from "vitest";
import type { Message } from "../shared/contract/messages.ts";
import { endpoints } from "../shared/http/endpoint.ts";
import type { TenantId } from "../shared/kernel/ids.ts";
import { deliverQueue } from "../shared/runtime/resources.ts";
import { queueWorker } from "../shared/runtime/worker.ts";
import { timers } from "../shared/store/capabilities.ts";
import { platformWrite, storeRead, storeWrite } from "../shared/store/context.ts";
import { SweepItem } from "../shared/store/platform-items.ts";
import { JobItem } from "../shared/store/sends/jobs/job-items.ts";

const reading = endpoints({ credentials: ["dashboard"], uses: [storeRead] });
const writing = endpoints({ credentials: ["dashboard"], uses: [storeWrite] });
const summary = { summary: "test" };
const body = v.object({ name: v.string() });

/** Never run: only their types are looked at. */
const declarations = () => [
  reading("GET /a/:id", {}, summary, async ({ store, params }) => store.get(JobItem, { job: params.id })),

  // @ts-expect-error a reader's store cannot write
  reading("POST /a", {}, summary, async ({ store }) => store.put({ pk: "a", sk: "a" })),

  // @ts-expect-error timers are not declared
  writing("POST /b", {}, summary, async ({ timers: undeclared }) => undeclared.set([])),

  writing("POST /b", { uses: [timers] }, summary, async ({ timers: declared }) => declared.set([])),

  // @ts-expect-error platform rows are not declared
  writing("POST /c", {}, summary, async ({ platform }) => platform.get(SweepItem, {})),

  writing("POST /c", { uses: [platformWrite] }, summary, async ({ platform }) => platform.get(SweepItem, {})),

  // @ts-expect-error the route has no such parameter
  reading("GET /d/:id", {}, summary, async ({ params }) => params.name),

  // @ts-expect-error there is no body without a schema
  writing("POST /e", {}, summary, async ({ body: nothing }) => nothing.name),

  // @ts-expect-error the schema of the body has no such field
  writing("POST /e", {}, { ...summary, body }, async ({ body: given }) => given.surname),

  writing("POST /e", {}, { ...summary, body }, async ({ body: given }) => given.name.toUpperCase()),

  // @ts-expect-error a route begins with a method
  reading("/f", {}, summary, async () => undefined),

  // @ts-expect-error the permission is none of the table
  writing("POST /g", { permission: "everything" }, summary, async () => undefined),

  // @ts-expect-error the scope is none of the table
  reading("GET /g", { scope: "subscribers:all" }, summary, async () => undefined),

  // @ts-expect-error the plan feature is none of the table
  reading("GET /g", { feature: "magic" }, summary, async () => undefined),

  // @ts-expect-error the error code is none of the vocabulary
  reading("GET /h", {}, { ...summary, errors: ["TEAPOT"] }, async () => undefined),
];

const workers = () => [
  queueWorker("deliver", "test", [deliverQueue], async (message, { deliverQueue: queue }) => queue.send([message])),

  // @ts-expect-error the store is not declared
  queueWorker("deliver", "test", [deliverQueue], async (message, { store }) => store.get(message)),

  // @ts-expect-error there is no such queue
  queueWorker("nothing", "test", [], async () => undefined),

  // @ts-expect-error a message of this queue has no such field
  queueWorker("deliver", "test", [], async ({ email }) => email),
];

// @ts-expect-error a message names its chunk
const incomplete: Message<"deliver"> = { tenant: "t", job: "j", range: "r" };

// @ts-expect-error a workspace id comes from a credential or a message, not from any text
const tenant: TenantId = "00000000-0000-4000-8000-000000000000";

it("docs/decisions/0001 what is not declared does not compile, and at run time is not there either", () => {
  const [first] = declarations();
  expect(first!.uses.map(({ as }) => as)).toEqual(["store"]);
  expect(workers()).toHaveLength(4);
  expect([incomplete, tenant]).toHaveLength(2);
});
