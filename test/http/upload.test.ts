// Multipart bodies: well-formed ones are parsed, others rejected, and data over a limit is not kept.
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { endpoints, group } from "../../shared/http/endpoint.ts";
import { serve } from "../../shared/http/serve.ts";
import { multipart, readUpload } from "../../shared/http/upload.ts";
import { ApiError } from "../../shared/kernel/errors.ts";
import { testWorld } from "../support/world.ts";

const BOUNDARY = "boundary-1";
const TYPE = `multipart/form-data; boundary=${BOUNDARY}`;
const part = (disposition: string, body: string, type?: string) =>
  `--${BOUNDARY}\r\nContent-Disposition: form-data; ${disposition}\r\n${type ? `Content-Type: ${type}\r\n` : ""}\r\n${body}\r\n`;
const field = (name: string, value: string) => part(`name="${name}"`, value);
const file = (body: string, name = "file") => part(`name="${name}"; filename="a.csv"`, body, "text/csv");
const form = (...parts: string[]) => Buffer.from(`${parts.join("")}--${BOUNDARY}--\r\n`);
const FILE_BYTES = 1_000;

const refusal = (source: Buffer, type: string | undefined = TYPE) =>
  readUpload(source, type, FILE_BYTES).then(
    () => "accepted",
    (error: unknown) => (error instanceof ApiError ? `${error.status} ${error.code}` : "exception"),
  );

describe("multipart bodies", () => {
  it("multipart bodies give their fields and their file (GEN-11)", async () => {
    const { fields, file: sent } = await readUpload(form(field("listId", "x"), file("a,b\r\n1,2")), TYPE, FILE_BYTES);
    expect({ ...fields }).toEqual({ listId: "x" });
    expect(sent).toEqual({
      field: "file",
      filename: "a.csv",
      contentType: "text/csv",
      bytes: Buffer.from("a,b\r\n1,2"),
    });
  });

  it("multipart bodies with a file over the limit are 413, exactly at it not (ERR-12)", async () => {
    expect(await refusal(form(file("x".repeat(1_000))))).toBe("accepted");
    expect(await refusal(form(file("x".repeat(1_001))))).toBe("413 FILE_TOO_LARGE");
  });

  it.each([
    ["no boundary", form(field("a", "b")), "multipart/form-data"],
    ["another content type", form(field("a", "b")), "application/json"],
    ["no content type", form(field("a", "b")), ""],
    ["two files", form(file("a"), file("b", "other")), TYPE],
    ["seventeen fields", form(...Array.from({ length: 17 }, (_, i) => field(`f${i}`, "x"))), TYPE],
    ["a field that is too long", form(field("a", "x".repeat(262_145))), TYPE],
    ["no closing boundary", form(file("abc")).subarray(0, -20), TYPE],
    ["an empty body", Buffer.alloc(0), TYPE],
  ])("multipart bodies with %s are 400 (ERR-1)", async (_, body, type) => {
    expect(await refusal(body, type)).toBe("400 BAD_REQUEST");
  });

  it("multipart bodies keep no prototype keys (GEN-11)", async () => {
    const { fields } = await readUpload(form(field("__proto__", "x"), field("constructor", "y")), TYPE, FILE_BYTES);
    expect(Object.getPrototypeOf(fields)).toBeNull();
    expect(({} as Record<string, unknown>).x).toBeUndefined();
  });
});

it("an endpoint that declares a form gets its fields through their schema (GEN-11)", async () => {
  const world = await testWorld();
  const endpoint = endpoints({ credentials: [], uses: [] });
  const shape = {
    summary: "",
    form: multipart(v.strictObject({ source: v.optional(v.picklist(["csv"]), "csv") }), { fileBytes: FILE_BYTES }),
    returns: v.object({ source: v.string(), size: v.number() }),
  };
  const upload = endpoint("POST /upload", {}, shape, async ({ form: { fields, file: sent } }) => ({
    source: fields.source,
    size: sent?.bytes.length ?? -1,
  }));
  const handler = serve(group("upload", "", [upload]), world.depsFor("upload"));
  const call = async (body: Buffer) => {
    const event = {
      routeKey: "POST /upload",
      headers: { "content-type": TYPE },
      body: body.toString("base64"),
      isBase64Encoded: true,
      requestContext: { requestId: "r", http: { sourceIp: "203.0.113.9" } },
    };
    const { statusCode, body: text } = await handler(event as never, {} as never);
    return [statusCode, JSON.parse(String(text))];
  };
  expect(await call(form(file("abc")))).toEqual([200, { source: "csv", size: 3 }]);
  expect((await call(form(field("source", "xml"))))[0]).toBe(422);
});
