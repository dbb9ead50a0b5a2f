// Adding an endpoint touches nothing but its own file: a planted one appears in everything that is derived.
import * as v from "valibot";
import { beforeAll, expect, it } from "vitest";
import { contents } from "../docs/generate/contents.ts";
import { generatedFiles } from "../docs/generate/files.ts";
import type { OpenApi } from "../docs/generate/openapi.ts";
import { contents as deployedContents } from "../infra/functions.ts";
import { endpoints, group } from "../shared/http/endpoint.ts";
import { storeWrite } from "../shared/store/context.ts";
import { deployed, synthesize } from "./infra/support/template.ts";
import { everyCredential, wrongRefusals } from "./support/credentials.ts";
import { testWorld } from "./support/world.ts";

const Parrot = v.object({ id: v.string(), name: v.string(), words: v.array(v.string()) });
const endpoint = endpoints({ credentials: ["sdk", "dashboard"], feature: "in_app", uses: [storeWrite] });
const planted = group("parrots", "Birds that repeat messages.", [
  endpoint(
    "POST /api/v1/parrots",
    { permission: "content:write" },
    {
      summary: "Hatch a parrot",
      body: v.strictObject({ name: v.pipe(v.string(), v.maxLength(20)), words: v.optional(v.array(v.string())) }),
      returns: Parrot,
      status: 201,
      errors: ["CONFLICT"],
    },
    async () => undefined,
  ),
  endpoint(
    "GET /api/v1/parrots/:id",
    {},
    { summary: "Get a parrot", returns: Parrot, errors: ["NOT_FOUND"] },
    async () => undefined,
  ),
  endpoint("POST /api/v1/parrots/:id/teach", {}, { summary: "Teach a parrot" }, async () => undefined),
]);

let files: Map<string, string>;
let document: OpenApi;
beforeAll(async () => {
  files = await generatedFiles({ ...contents, groups: [...contents.groups, planted] });
  document = JSON.parse(files.get("docs/openapi.json")!);
});

it("in the OpenAPI document, with its access, shapes, refusals and an example (F7)", () => {
  const create = document.paths["/api/v1/parrots"]!.post!;
  expect(create).toMatchObject({
    operationId: "parrotsCreate",
    tags: ["parrots"],
    summary: "Hatch a parrot",
    security: [{ sdk: [] }, { dashboard: [] }],
    requestBody: { content: { "application/json": { example: { name: "Spring sale" } } } },
  });
  expect(Object.keys(create.responses).sort()).toEqual(
    ["201", "400", "401", "403", "409", "413", "422", "429", "500", "503"].sort(),
  );
  expect(create.responses[201]).toMatchObject({
    content: { "application/json": { schema: { $ref: "#/components/schemas/Parrot" } } },
  });
  const { $ref = "" } = create.responses[403] as { $ref?: string };
  const name = $ref.split("/").at(-1)!;
  for (const part of [
    "Refusal403",
    "Forbidden",
    "ReadOnlyToken",
    "SecondFactorMissing",
    "TenantDeleted",
    "TenantSuspended",
    "InApp",
  ])
    expect(name).toContain(part);
  expect(document.tags).toContainEqual({ name: "parrots", description: "Birds that repeat messages." });
});

it("in the access matrix", () => {
  expect(files.get("docs/access.md")).toContain(
    "| `POST /api/v1/parrots` | yes |  | `content:write` |  | `in_app` | write |  |",
  );
});

it("in the SDK's types and routes, for servers and for browsers", () => {
  const types = files.get("sdk/src/types.gen.ts")!;
  expect(types.replaceAll(/^ *\/\*\*.*\*\/\n/gm, "")).toContain(
    "export interface Parrot {\n  id: string;\n  name: string;\n  words: string[];\n}",
  );
  expect(types.match(/create\(body: ParrotsCreateBody, options\?: CallOptions\): Promise<Parrot>;/g)).toHaveLength(2);
  expect(types).toContain("get(id: string, options?: CallOptions): Promise<Parrot>;");
  expect(types).toContain("teach(id: string, options?: CallOptions): Promise<void>;");
  for (const table of ["sdk/src/routes.gen.ts", "sdk/src/browser-routes.gen.ts"])
    expect(files.get(table)).toContain('teach: {"route":"POST /api/v1/parrots/:id/teach"');
});

it("in the sample events, under the name of its function", () => {
  expect(JSON.parse(files.get("events/api-parrots.json")!)).toMatchObject({
    routeKey: "POST /api/v1/parrots",
    headers: { "x-sdk-key": "{sdk_key}" },
    body: '{"name":"Spring sale"}',
  });
});

it("in the template: a route, a function with what it uses, and nothing else that is new", () => {
  const { Resources } = synthesize({
    contents: { ...deployedContents, groups: [...deployedContents.groups, planted] },
  });
  expect(Resources.Api!.Properties.Body.paths["/api/v1/parrots/{id}/teach"].post).toMatchObject({
    "x-amazon-apigateway-integration": { $ref: "#/components/x-amazon-apigateway-integrations/api-parrots" },
  });
  expect(Resources.ApiParrots!.Properties.Environment.Variables).toHaveProperty("TABLE_NAME");
  const before = deployed().Resources;
  const fresh = Object.keys(Resources).filter((id) => !Object.hasOwn(before, id));
  expect(fresh.map((id) => Resources[id]!.Type).toSorted()).toEqual([
    "AWS::IAM::Role",
    "AWS::Lambda::Function",
    "AWS::Lambda::Permission",
    "AWS::Logs::LogGroup",
  ]);
});

it("in the refusals: every credential is answered as it declares, by the gateway that serves it", async () => {
  const world = await testWorld({ groups: [...contents.groups, planted] });
  const all = await everyCredential(world, await world.tenant());
  for (const one of planted.endpoints)
    expect(await wrongRefusals(world, one, all, one.route.replaceAll(/:\w+/g, "x"))).toEqual([]);
  const poor = await world.tenant({ plan: "free" });
  const refused = await world.call("POST /api/v1/parrots/x/teach", { as: poor.sdk });
  expect([refused.status, refused.body.error]).toEqual([403, "in_app_not_permitted"]);
  const open = await world.tenant();
  const body = { name: "Polly, who is far too long a name" };
  const wrong = await world.call("POST /api/v1/parrots", { as: open.sdk, body });
  expect([wrong.status, wrong.body.code, Object.keys(wrong.body.fields)]).toEqual([422, "VALIDATION_ERROR", ["name"]]);
  expect((await world.call("POST /api/v1/parrots/x/teach", { as: open.sdk })).status).toBe(204);
});

it("everything that was there before an endpoint is planted stays as it was", async () => {
  const before = await generatedFiles(contents);
  const { paths } = JSON.parse(before.get("docs/openapi.json")!) as OpenApi;
  for (const [path, methods] of Object.entries(paths)) expect(document.paths[path]).toEqual(methods);
  const changed = [...before].filter(([path, text]) => files.get(path) !== text).map(([path]) => path);
  expect(changed.sort()).toEqual([
    "console/app/access.gen.ts",
    "docs/access.md",
    "docs/openapi.json",
    "sdk/src/browser-routes.gen.ts",
    "sdk/src/routes.gen.ts",
    "sdk/src/types.gen.ts",
    "test/samples.gen.ts",
  ]);
});
