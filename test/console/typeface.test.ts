// The typeface of the console: its bytes and its licence reach the browser, by whatever serves the console.
import { expect, it } from "vitest";
import { buildConsole } from "../../console/build.ts";
import { consolePages, packConsole } from "../../console/packed.ts";

it("a deployed console serves each part of the typeface byte for byte", async () => {
  const files = await buildConsole();
  const pages = consolePages(packConsole(files));
  const fonts = [...files].filter(([path]) => path.endsWith(".woff2"));
  expect(fonts.length).toBeGreaterThan(0);
  for (const [path, { content }] of fonts) {
    const answer = pages("GET", path);
    expect(answer?.headers["content-type"]).toBe("font/woff2");
    expect(answer?.isBase64Encoded).toBe(true);
    expect(Buffer.from(answer?.body ?? "", "base64").equals(content)).toBe(true);
  }
});

it("the licence of the typeface is served beside it", async () => {
  const pages = consolePages(packConsole(await buildConsole()));
  expect(pages("GET", "/console/typeface.txt")?.body).toContain("SIL OPEN FONT LICENSE");
});
