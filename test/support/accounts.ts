// The mails of accounts, as their recipients read them.
import { totpCode } from "../../shared/store/workspaces/totp.ts";
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

const BASE32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/** What an authenticator shows now for a key in base32. */
export function shownCode(key: string, now: number): string {
  const bits = [...key].map((letter) => BASE32.indexOf(letter).toString(2).padStart(5, "0")).join("");
  const bytes = (bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2));
  return totpCode(Buffer.from(bytes), Math.floor(now / 30_000));
}
