// What a live stream writes so that a client sees each message once wherever its connection is cut (docs/decisions/0118).
import { expect, it } from "vitest";
import { reading } from "../support/sse.ts";
import { worlds } from "../support/worlds.ts";

const withReader = reading(worlds());

/** As version 2 of the library `eventsource`: an id counts as soon as it is read, and data is kept until an empty line. */
function hastyReader() {
  const titles: string[] = [];
  let [id, data, type] = ["", "", ""];
  const fields: Record<string, (value: string) => void> = {
    id: (value) => {
      id = value;
    },
    data: (value) => {
      data += value;
    },
    event: (value) => {
      type = value;
    },
  };
  const readLine = (line: string) => {
    if (line !== "\n") return fields[line.split(": ", 1)[0]!]?.(line.slice(line.indexOf(": ") + 2, -1));
    if (data !== "" && type === "") titles.push(JSON.parse(data).title);
    [data, type] = ["", ""];
  };
  return { titles, lastEventId: () => id, read: (lines: readonly string[]) => lines.forEach(readLine) };
}

it("data stands between the position before it and the one after it, for clients that keep one at once (SSE-4)", async () => {
  const { open, tell } = await withReader();
  const stream = await open();
  await tell("new");

  expect(stream.text).toMatch(/^retry: 2000\nid: (\S+)\n\nid: \1~\ndata: .*\nid: (?!\1)\S+\n\n/);
});

it("a position before data resumes by an event that nobody listens to, one after data by an empty line (AMB-122)", async () => {
  const { open, tell } = await withReader();
  const first = await open();
  await tell("new");
  const [, before, after] = /^id: (\S+~)\ndata: .*\nid: (\S+)$/m.exec(first.text)!;
  first.disconnect();
  const cutBefore = await open({ "last-event-id": before! });
  expect(cutBefore.text).toMatch(/^event: cut\nretry: 2000\nid: \S+~\n\n/);
  expect(cutBefore.frames().map(({ data }) => data.title)).toEqual(["new"]);
  const cutAfter = await open({ "last-event-id": after! });
  expect(cutAfter.text).toMatch(/^retry: 2000\nid: [^\s~]+\n\n/);
  expect(cutAfter.frames()).toEqual([]);
});

it("a client that keeps each line at once, and data beyond a connection, gets each once (AMB-122)", async () => {
  const { open, tell } = await withReader();
  const first = await open();
  for (const title of ["one", "two"]) await tell(title);
  const lines = first.text.split(/(?<=\n)/);
  first.disconnect();
  for (let received = 1; received <= lines.length; received++) {
    const reader = hastyReader();
    reader.read(lines.slice(0, received));
    for (let connection = 0; connection < 3; connection++) {
      const again = await open({ "last-event-id": reader.lastEventId() });
      const some = again.text.split(/(?<=\n)/);
      // The second connection breaks as well, after its first line.
      reader.read(connection === 0 ? some.slice(0, 1) : some);
      again.disconnect();
    }
    expect(reader.titles.toSorted(), `${received}`).toEqual(received < 2 ? [] : ["one", "two"]);
  }
});
