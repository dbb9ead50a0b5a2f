// A smart send tries one class of channels after the other, each only after the one before it failed permanently; and what
// the mail provider reports later is in the explanation of the recipient.
import { MINUTE } from "../../../shared/kernel/clock.ts";
import { channelClasses, classOf } from "../../../shared/rules/channel-types.ts";
import { laneOf } from "../../../shared/store/sends/jobs/job-ids.ts";
import type { Invariant } from "../invariant.ts";
import { type ProviderBook, providerBook } from "../provider-book.ts";
import type { Call } from "../providers.ts";
import { ask } from "../questions.ts";
import { receiptsOf } from "../receipts.ts";
import type { SimWorld } from "../world.ts";

const EXPLAIN = "GET /api/v1/notifications/{id}/recipients/{subscriberId}";

type Broken = (text: string, ...entities: string[]) => void;

export const smartChoice: Invariant = {
  name: "smart-choice",
  watch: (world, broken) => {
    const book = providerBook(world);
    return {
      end: async () => {
        for (const [job, send] of world.ledger.byJob) {
          if (!send.smart) continue;
          const row = world.mirror.get(`T#${send.tenant}#${laneOf(job)}`, job);
          for (const [person, targets] of book.calls.get(job) ?? [])
            judgeChoice(world, book, { job, person, targets, isOver: row?.status === "completed" }, broken);
        }
        for (const receipt of receiptsOf(world)) await judgeReceipt(world, book, receipt, broken);
      },
    };
  },
};

interface Choice {
  job: string;
  person: string;
  targets: Map<string, Call[]>;
  isOver: boolean;
}

function judgeChoice({ ledger }: SimWorld, book: ProviderBook, choice: Choice, broken: Broken): void {
  const { job, person, targets, isOver } = choice;
  const say = (text: string) => broken(`${person} of the smart job ${job}: ${text}`, person, job);
  const all = [...targets.values()].flat().sort((a, b) => a.at - b.at);
  const classes = [...Map.groupBy(all, ({ channel }) => classOf(channel))];
  const order = classes.map(([name]) => channelClasses.indexOf(name));
  if (order.some((place, i) => i > 0 && place <= order[i - 1]!)) say(`the order was ${classes.map(([name]) => name)}`);
  const isInInbox = ledger.delivered.get(job)?.has(person) ?? false;
  for (const [n, [name, calls]] of classes.entries()) {
    const next = classes[n + 1];
    const isLast = next === undefined;
    if (next && calls.some(({ at }) => at > next[1][0]!.at)) say(`${next[0]} began before ${name} was over`);
    const last = [...Map.groupBy(calls, ({ target }) => target).values()].map((some) => some.at(-1)!);
    const isFailed = last.every((call) => call.told?.kind === "rejected" && !book.isLost(call));
    // What a provider refused for now may end by a rule of ours at its next try.
    const isLost = last.some((call) => book.isLost(call) || call.told?.kind === "retryable");
    if (!isFailed && !isLost && (!isLast || isInInbox)) say(`${name} had not failed permanently`);
    const isErased = ledger.people.get(person)?.erasingSince !== undefined;
    const hasInbox = ledger.byJob.get(job)?.channels === undefined;
    if (isLast && isFailed && hasInbox && isOver && !isInInbox && !isErased) say(`nothing was tried after ${name}`);
  }
}

/** A mail that came back is shown so. */
async function judgeReceipt(
  world: SimWorld,
  book: ProviderBook,
  { call, fate, at }: ReturnType<typeof receiptsOf>[number],
  broken: Broken,
): Promise<void> {
  const { ledger, kernel } = world;
  const { job, subscriber } = call;
  const person = ledger.people.get(subscriber);
  if (fate !== "bounced" || book.isLost(call) || person?.erasingSince !== undefined || kernel.now() < at + MINUTE)
    return;
  const tenant = ledger.tenants.get(person?.tenant ?? "")!;
  const { status, body } = await ask(world, tenant, EXPLAIN, { params: { id: job, subscriberId: subscriber } });
  if (status !== 200) return;
  const attempt = body.attempts.find((one: { channel: string }) => one.channel === "email");
  if (attempt?.state !== "bounced")
    broken(`the mail of ${job} to ${subscriber} came back and is ${JSON.stringify(attempt ?? body)}`, subscriber, job);
}
