// Contents with mails of over 100 KB, and the objects in which they lie.
import { objectsOf } from "./purge.ts";
import type { TestWorld } from "./world.ts";

const START = '<p>It is spring, {{ subscriber.first_name }}.</p>\n<p>é "quoted"</p>';

/** An HTML of so many bytes, of which `é` has two, that ends in a mark. */
export const htmlOf = (bytes: number, mark = "END"): string => START.padEnd(bytes - mark.length - 1, "x") + mark;

export const contentOf = (email: object) => ({ title: "Spring", body: "B", by_channel: { email } });

export const large = contentOf({ subject: "Spring", html: htmlOf(190_000), design: "d".repeat(90_000) });

export const mailsIn = async (world: TestWorld) => (await objectsOf(world)).filter((key) => key.startsWith("mails/"));
