// Shares in words: what is small is not shown as nothing.
import { expect, it } from "vitest";
import { share } from "../../console/app/time.ts";

it("a share that rounds to none and is some says so; of nothing there is no share (CON-3)", () => {
  expect([share(359, 100_000_000), share(0, 76), share(29, 76), share(1, 2_000), share(0, 0)]).toEqual([
    "<0.1%",
    "0%",
    "38.2%",
    "0.1%",
    "–",
  ]);
});
