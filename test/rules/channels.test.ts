// What the types of the table of channels cannot say.
import { expect, it } from "vitest";
import { channels } from "../../shared/rules/channels.ts";

const all = Object.values(channels);

it("every channel has a letter of its own in stored chunks", () => {
  expect(new Set(all.map(({ letter }) => letter)).size).toBe(all.length);
  expect(all.filter(({ letter }) => letter.length !== 1)).toEqual([]);
});

it("channels of one class have one rank and one kind of content, and no two classes share a rank", () => {
  const classes = Map.groupBy(all, (channel) => channel.class);
  const kinds = [...classes.values()].map((one) => new Set(one.map(({ rank, content }) => `${rank} ${content.kind}`)));
  expect(kinds.filter(({ size }) => size !== 1)).toEqual([]);
  expect(new Set(all.map(({ rank }) => rank)).size).toBe(classes.size);
});

it("no two types of credentials share a name or a path", () => {
  const credentials = all.flatMap((channel) => ("credentials" in channel ? channel.credentials : []));
  expect(new Set(credentials.map(({ type }) => type)).size).toBe(credentials.length);
  expect(new Set(credentials.map(({ path }) => path)).size).toBe(credentials.length);
});
