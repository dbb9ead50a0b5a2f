// The quickstart of the README, pasted as it stands into shells beside a running service.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { cleanUp, newFolder, startService } from "./support/service-process.ts";

const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8");
const [, quickstart = ""] = readme.split("\n## Quickstart\n");
const [, listen = "", send = ""] = [...quickstart.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, block = ""]) => block);
const hasShell = spawnSync("bash", ["-c", "command -v curl"]).status === 0;

describe.skipIf(!hasShell)("the quickstart (skipped where bash or curl is missing)", () => {
  afterAll(cleanUp);

  it("the quickstart sends a message that arrives in the stream and in the inbox", async () => {
    const cwd = newFolder();
    await startService({ DATA_DIR: join(cwd, ".data") });
    const shell = (lines: string) => spawn("bash", ["-euc", lines], { cwd, stdio: ["ignore", "pipe", "inherit"] });

    const listening = shell(listen.replace("curl", "exec curl"));
    let heard = "";
    listening.stdout.on("data", (chunk: Buffer) => {
      heard += chunk;
    });
    await once(listening.stdout, "data");

    const sending = shell(send);
    const [output] = await Promise.all([sending.stdout.toArray(), once(sending, "close")]);
    const answers = Buffer.concat(output)
      .toString()
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(sending.exitCode).toBe(0);
    expect(answers).toMatchObject([
      { external_id: "ada" },
      { id: expect.any(String) },
      { idle: true },
      { messages: [{ content: { title: "Hello Ada", body: "It works." } }] },
    ]);

    while (!heard.includes("data:")) await once(listening.stdout, "data");
    listening.kill();
    expect(heard).toContain('"title":"Hello Ada"');
  });
});
