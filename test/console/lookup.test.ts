// What the palette looks through: all pages of a kind, each once.
import { expect, it } from "vitest";
import { createLookup, numbered } from "../../console/app/lookup.ts";

const names = (count: number, last: string) => [
  ...Array.from({ length: count - 1 }, (_, n) => ({ name: `Segment ${n}` })),
  { name: last },
];

function pagesOf(all: readonly { name: string }[], size: number) {
  const asked: number[] = [];
  const read = numbered(async (page: number) => {
    asked.push(page);
    return all.slice((page - 1) * size, page * size);
  }, size);
  return { asked, read };
}

it("a look-up finds what is on the last page, without its case and marks, and reads each page once (CON-4)", async () => {
  const { asked, read } = pagesOf(names(450, "Große Käufer"), 100);
  const lookup = createLookup(5);
  expect(await lookup.find("segments", "grosse kauf", read)).toEqual({ all: [{ name: "Große Käufer" }] });
  expect(await lookup.find("segments", "KÄUFER", read)).toEqual({ all: [{ name: "Große Käufer" }] });
  expect(await lookup.find("segments", "kaeufer", read)).toEqual({ all: [{ name: "Große Käufer" }] });
  expect(asked).toEqual([1, 2, 3, 4, 5]);
});

it("a look-up ends where there is enough, and reads anew once all is forgotten (CON-4)", async () => {
  const { asked, read } = pagesOf(names(450, "Last"), 100);
  const lookup = createLookup(5);
  expect((await lookup.find("segments", "segment", read)).all.length).toBe(100);
  expect(asked).toEqual([1]);
  lookup.forget();
  await lookup.find("segments", "segment", read);
  expect(asked).toEqual([1, 1]);
});

it("a page that was refused is asked for again by the next search (CON-4)", async () => {
  let tries = 0;
  const lookup = createLookup(5);
  const read = async () => {
    tries++;
    if (tries === 1) throw new Error("429");
    return { items: [{ name: "A" }], next_cursor: "" };
  };
  await expect(lookup.find("lists", "a", read)).rejects.toThrow("429");
  expect(await lookup.find("lists", "a", read)).toEqual({ all: [{ name: "A" }] });
});

it("a look-up of a few pages reads no more for any word, and says that there are others (CON-4)", async () => {
  const { asked, read } = pagesOf(names(450, "Last"), 100);
  const lookup = createLookup(5);
  expect(await lookup.find("segments", "nothing", read, 2)).toEqual({ all: [], isPart: true });
  expect(await lookup.find("segments", "nowhere", read, 2)).toEqual({ all: [], isPart: true });
  expect(asked).toEqual([1, 2]);
});
