// The program of `npm start` as one module.
import { readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, expect, it } from "vitest";
import { openOneModule } from "../../local/one-module.ts";
import { cleanUp, newFolder } from "../support/service-process.ts";

afterEach(cleanUp);

it("a program is made into one module once, and again when one of its files has changed (F5)", async () => {
  const root = newFolder();
  const file = (name: string) => join(root, name);
  writeFileSync(file("main.ts"), `export { said } from "./said.ts"; export const place = import.meta.url;`);
  writeFileSync(file("said.ts"), `export const said: string = "one";`);
  const folder = file("made");
  const ranWith = async (use: string) => {
    const module = await openOneModule({ entry: file("main.ts"), root, folder, use });
    const exported = await module.run();
    module.keepCode();
    const kept = readdirSync(folder).sort();
    const uses = kept.map((name) => name.split(".")[1]);
    return { ...(exported as object), uses, kept: kept.map((name) => [name, statSync(join(folder, name)).mtimeMs]) };
  };

  const first = await ranWith("plain");
  expect(first).toMatchObject({ said: "one", place: pathToFileURL(file("main.ts")).href });
  expect(first.uses).toEqual(["cjs", "plain", "json"]);
  expect(await ranWith("plain")).toEqual(first);

  // V8 would take the code of the first text for that of another one as long as it.
  writeFileSync(file("said.ts"), `export const said: string = "two";`);
  expect(await ranWith("demo")).toMatchObject({ said: "two", uses: ["cjs", "demo", "json"] });
  expect(await ranWith("plain")).toMatchObject({ said: "two", uses: ["cjs", "demo", "plain", "json"] });
});
