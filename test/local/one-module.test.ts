// The program of `npm start` as one module.
import { statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, expect, it } from "vitest";
import { oneModule } from "../../local/one-module.ts";
import { cleanUp, newFolder } from "../support/service-process.ts";

afterEach(cleanUp);

it("a program is made into one module once, and again when one of its files has changed (F5)", async () => {
  const root = newFolder();
  const file = (name: string) => join(root, name);
  writeFileSync(file("main.ts"), `export { said } from "./said.ts"; export const place = import.meta.url;`);
  writeFileSync(file("said.ts"), `export const said: string = "one";`);
  const folder = file("made");
  const made = async () => {
    const url = await oneModule({ entry: file("main.ts"), root, folder });
    const { said, place } = await import(`${url}?${Math.random()}`);
    return { url, said, place, at: statSync(new URL(url)).mtimeMs };
  };

  const first = await made();
  expect(first).toMatchObject({ said: "one", place: pathToFileURL(file("main.ts")).href });
  expect(await made()).toEqual(first);

  writeFileSync(file("said.ts"), `export const said: string = "another";`);
  expect(await made()).toMatchObject({ url: first.url, said: "another" });
});
