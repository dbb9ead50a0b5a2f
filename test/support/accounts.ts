// The mails of accounts, as their recipients read them.
import type { Answer, TestWorld } from "./world.ts";

/** The token of the last mail to an address whose subject begins so. It is sent by a worker, so what is due runs first. */
export async function mailedToken(world: TestWorld, to: string, title = ""): Promise<string> {
  await world.settle();
  const { items } = (await world.call("GET /_local/outbox?channel=email&limit=1000")).body;
  const mail = items.findLast((one: { to: string; title: string }) => one.to === to && one.title.startsWith(title));
  return /^Your token: ([\w-]{43})$/m.exec(mail?.body ?? "")?.[1] ?? "";
}

/** The answer to an invitation, with the token of its mail. */
export const withMailedToken = async (world: TestWorld, answer: Answer): Promise<Answer> =>
  answer.body.mailed
    ? { ...answer, body: { ...answer.body, token: await mailedToken(world, answer.body.email, "You are invited") } }
    : answer;
