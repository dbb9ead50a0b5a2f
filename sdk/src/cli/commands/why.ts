// Asks why one person got something or did not, and prints the answer in words.
import type { Why } from "../../types.gen.ts";
import { type Call, command, EXIT } from "../command.ts";
import { connect } from "../connection.ts";

const PERSON = "The person is named by id, external id or e-mail address.";

async function answer({ io, options }: Call, query: object): Promise<number> {
  const connection = await connect(io, options);
  try {
    const found = (await connection.call("recipients.getWhy", query)) as unknown as Why;
    io.out(options.json ? JSON.stringify(found) : found.in_words);
    return EXIT.ok;
  } finally {
    await connection.close();
  }
}

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
