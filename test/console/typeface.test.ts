// The typeface of the console: its bytes and its licence reach the browser, by whatever serves the console.
import { expect, it } from "vitest";
import { buildConsole } from "../../console/build.ts";
import { siteFiles } from "../../infra/site-files.ts";

it("a deployed console serves each part of the typeface byte for byte", async () => {
  const [files, deployed] = [await buildConsole(), await siteFiles()];
  const fonts = [...files].filter(([path]) => path.endsWith(".woff2"));
  expect(fonts.length).toBeGreaterThan(0);
  for (const [path, { content }] of fonts) {
    expect(deployed.get(path)?.type).toBe("font/woff2");
    expect(deployed.get(path)?.content.equals(content)).toBe(true);
  }
});

it("the licence of the typeface is served beside it", async () => {
  const deployed = await siteFiles();
  expect(deployed.get("/console/typeface.txt")?.content.toString()).toContain("SIL OPEN FONT LICENSE");
});
