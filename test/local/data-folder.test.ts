// The folder of the local service, with its keys and the data of its workspaces.
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { openDataFolder } from "../../local/data-folder.ts";

const place = mkdtempSync(join(tmpdir(), "data-"));
afterAll(() => rmSync(place, { recursive: true }));

it("a folder that the service makes is its owner's alone: the embedded keys are in it", () => {
  const folder = join(place, "of", "mine");
  openDataFolder(folder).release();
  const OTHERS = 0o077;
  expect([statSync(folder).mode & OTHERS, statSync(join(place, "of")).mode & OTHERS]).toEqual([0, 0]);
});
