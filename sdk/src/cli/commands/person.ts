// Commands about one person: why something reached them or did not, in words, and everything that is known of them.
import { renameSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import type { SubscriberExport, Why } from "../../types.gen.ts";
import { type Call, command, EXIT } from "../command.ts";
import { type Connection, withConnection } from "../connection.ts";
import { subscriberId } from "../names.ts";

const PERSON = "The person is named by id, external id or email address.";

const answer = ({ io, options }: Call, query: object): Promise<number> =>
  withConnection(io, options, async (connection) => {
    const found = (await connection.call("recipients.getWhy", query)) as unknown as Why;
    io.out(options.json ? JSON.stringify(found) : found.in_words);
    return EXIT.ok;
  });

export const explain = command({
  name: "explain",
  args: "<send> <person>",
  summary: "Say why a person got a send, or did not",
  about: `The send is named by its id, name or title. ${PERSON}`,
  options: { campaign: { type: "boolean", about: "It is a campaign, by its id or name" } },
  run: (call) => {
    const [send = "", person = ""] = call.args;
    return answer(call, { person, [call.options.campaign ? "campaign" : "send"]: send });
  },
});

export const why = command({
  name: "why",
  args: "<journey> <person>",
  summary: "Say what a journey did with a person, or why nothing",
  about: `The journey is named by its id or name. ${PERSON}`,
  options: {},
  run: (call) => {
    const [journey = "", person = ""] = call.args;
    return answer(call, { person, journey });
  },
});

/** The lists that later pages continue. */
const LISTS = ["consents", "inbox", "engagement", "history"] as const;

/** Joins all pages into one document. */
async function everythingAbout({ client }: Connection, id: string): Promise<Omit<SubscriberExport, "next_cursor">> {
  const { next_cursor: second, ...document } = await client.subscribers.getExport(id);
  for (let cursor = second; cursor !== ""; ) {
    const page = await client.subscribers.getExport(id, { cursor });
    for (const name of LISTS) Object.assign(document, { [name]: [...(document[name] ?? []), ...(page[name] ?? [])] });
    cursor = page.next_cursor;
  }
  return document;
}

export const exportSubscriber = command({
  name: "export-subscriber",
  args: "<external-id>",
  summary: "Write everything that is known of a subscriber to one JSON file",
  about: "The file is for its owner alone, because it is personal data.",
  options: { out: { type: "string", value: "<file>", about: "Where to write it (default: the standard output)" } },
  run: async ({ io, options, args }) => {
    const [external_id = ""] = args;
    return withConnection(io, options, async (connection) => {
      const document = await everythingAbout(connection, await subscriberId(connection, external_id));
      const text = JSON.stringify(document, null, options.json ? 0 : 2);
      if (options.out === undefined) {
        io.out(text);
        return EXIT.ok;
      }
      const file = resolve(io.cwd, options.out);
      writeFileSync(`${file}.new`, `${text}\n`, { mode: 0o600 });
      renameSync(`${file}.new`, file);
      io.out(
        `${document.inbox.length} messages and ${document.history.length} entries of the history in ${options.out}`,
      );
      return EXIT.ok;
    });
  },
});
