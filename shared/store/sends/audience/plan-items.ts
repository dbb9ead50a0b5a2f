// The stored form of a send that an agent has planned and may confirm (AGT-3).
import * as v from "valibot";
import { hashOf } from "../../hash.ts";
import { item } from "../../item.ts";

export const SendPlan = item({
  about: "A send that an agent key has planned, found by the hash of its token; after the confirmation, its answer.",
  pk: ({ token }: { token: string }) => `PLAN#${hashOf(token)}`,
  row: {
    /** The idempotency key of the send. */
    id: v.string(),
    /** The agent key that planned it, and alone may confirm it. */
    agent_key: v.string(),
    /** The body of the send as JSON; removed by the confirmation. */
    body: v.optional(v.string()),
    /** Of the body, and of the template and the rule that it names. */
    digest: v.string(),
    total: v.number(),
    /** How many would get it. Absent where chance decides (a control group). */
    reached: v.optional(v.number()),
    exact: v.boolean(),
    /** Until when it may be confirmed, in milliseconds. */
    until: v.number(),
    /** The id of the send. */
    job: v.optional(v.string()),
    sent: v.optional(v.number()),
    expires: v.number(),
  },
  writers: ["api-mcp"],
  lifetime: "1 hour",
});
