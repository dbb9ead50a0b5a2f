// The programs of docs/guides/other-languages.md, run as they are printed.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Claim, FOLDER, newWorkspace } from "./claims.ts";
import { run } from "./run.ts";

const GUIDE = new URL("../../docs/guides/other-languages.md", FOLDER);

interface Language {
  name: "python" | "java";
  command: string;
  file: string;
  /** What precedes the words that a line prints. */
  comment: string;
}

const languages: readonly Language[] = [
  { name: "python", command: "python3", file: "example.py", comment: "#" },
  { name: "java", command: "java", file: "Example.java", comment: "//" },
];

/** What the guide says that each line prints. */
const printedBy = (code: string, comment: string): string[] =>
  code.split("\n").flatMap((line) => {
    const [, said] = line.split(` ${comment} `);
    return said !== undefined && /print/.test(line) ? [said] : [];
  });

const firstLine = (text: string): string => text.split("\n")[0] ?? "";

export const claims: readonly Claim[] = languages.map(({ name, command, file, comment }) => ({
  says: `The program of the guide in ${name} runs on the standard library alone and prints what the guide says`,
  tool: command,
  version: async () => /[\d.]+/.exec(firstLine(await run(command, ["--version"])))?.[0] ?? "",
  prove: async (service) => {
    const [, code = ""] =
      new RegExp(`^\`\`\`${name}\n([\\s\\S]*?)^\`\`\`$`, "m").exec(readFileSync(GUIDE, "utf8")) ?? [];
    const printed = printedBy(code, comment);
    assert.ok(printed.length > 3);
    const folder = mkdtempSync(join(tmpdir(), "guide-"));
    try {
      writeFileSync(join(folder, file), code);
      const { server_key } = await newWorkspace(service);
      const env = { BASE_URL: service.url, SERVER_KEY: server_key };
      const said = await run(command, [file], { cwd: folder, env });
      assert.deepEqual(said.trimEnd().split("\n"), printed);
    } finally {
      rmSync(folder, { recursive: true });
    }
  },
}));
