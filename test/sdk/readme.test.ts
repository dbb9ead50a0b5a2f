// What the README of the SDK names is there.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { createBrowserClient } from "../../sdk/src/browser.ts";
import { createClient } from "../../sdk/src/client.ts";

const README = readFileSync(fileURLToPath(new URL("../../sdk/README.md", import.meta.url)), "utf8");
/** `topics.list` or `service.importCsv(…)`, in a line of text. */
const METHOD = /`([a-z]\w*(?:\.[a-z]\w*)+)(?:\([^`]*)?`/gi;
/** In the examples it is what `service.stream` returns, not a client. */
const STREAM = "stream.close";

const at = (place: unknown, path: string): unknown =>
  path.split(".").reduce((inner, name) => (inner as Record<string, unknown> | undefined)?.[name], place);

it("every method that the README of the SDK names is one of a client (D-SDK)", () => {
  const baseUrl = "https://api.example.com";
  const clients: object[] = [createClient({ baseUrl }), createBrowserClient({ baseUrl, sdkKey: "sk_1" })];
  const has = (client: object, path: string) => typeof at(client, path) === "function";
  const methods = [...README.matchAll(METHOD)].map(([, path = ""]) => path.replace(/^service\./, ""));

  expect(methods.length).toBeGreaterThan(20);
  expect(methods.filter((path) => !clients.some((client) => has(client, path)))).toEqual([STREAM]);
});
