// Shares and amounts in words: what is small is not shown as nothing.
import { expect, it } from "vitest";
import { money, price, share } from "../../console/app/time.ts";

it("a share that rounds to none or all and is not says so; of nothing there is no share (CON-3)", () => {
  expect([
    share(359, 100_000_000),
    share(0, 76),
    share(29, 76),
    share(1, 2_000),
    share(0, 0),
    share(11_998, 12_000),
    share(7, 7),
  ]).toEqual(["<0.1%", "0%", "38.2%", "0.1%", "–", ">99.9%", "100%"]);
});

it("an amount is in cents; less than one says so, and a price has three digits that say something (CON-3)", () => {
  const all = [0, 0.000123, 0.0049, 0.005, 12.345, 1_204].map((value) => [money(value), price(value)]);
  expect(all).toEqual([
    ["$0.00", "$0"],
    ["<$0.01", "$0.000123"],
    ["<$0.01", "$0.0049"],
    ["$0.01", "$0.005"],
    ["$12.35", "$12.35"],
    ["$1,204.00", "$1,204.00"],
  ]);
});
