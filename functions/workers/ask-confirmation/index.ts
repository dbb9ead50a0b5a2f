// Mails the owner of an address to ask whether an opt-in is meant (AMB-129): a send to one subscriber like any other,
// through the workspace's own channel.
import { SECOND } from "../../../shared/kernel/clock.ts";
import type { Context } from "../../../shared/kernel/deps.ts";
import { ApiError } from "../../../shared/kernel/errors.ts";
import { listIdOf } from "../../../shared/rules/list-consents.ts";
import { CONFIRM_LINK } from "../../../shared/rules/mail-body.ts";
import { cardHtml } from "../../../shared/rules/mail-card.ts";
import { senderOf } from "../../../shared/rules/mail-parts.ts";
import { topicKeyOf } from "../../../shared/rules/topics.ts";
import { type Language, languageOf } from "../../../shared/rules/translations.ts";
import { queueWorker, type RuntimeContext } from "../../../shared/runtime/worker.ts";
import { timers, workspaceRead } from "../../../shared/store/capabilities.ts";
import { isUsable, listChannels } from "../../../shared/store/channels/channels.ts";
import { storeWrite } from "../../../shared/store/context.ts";
import { leaveUnconfirmed, listName } from "../../../shared/store/lists/joining.ts";
import { busy, contended, done, untilUncontended } from "../../../shared/store/refusals.ts";
import { jobIdOf } from "../../../shared/store/sends/jobs/job-ids.ts";
import { type JobSpec, PLAIN_SEND } from "../../../shared/store/sends/jobs/job-spec.ts";
import { startSend } from "../../../shared/store/sends/jobs/sends.ts";
import { askingOf } from "../../../shared/store/subscribers/confirmations.ts";
import { attributesOf } from "../../../shared/store/subscribers/subscribers.ts";
import { topicName } from "../../../shared/store/topics/topics.ts";
import { allowanceOf } from "../../../shared/store/workspaces/usage.ts";
import type { WorkspaceRecord } from "../../../shared/store/workspaces/workspaces.ts";

const uses = [storeWrite, timers, workspaceRead] as const;
type WorkerContext = Context<typeof uses> & RuntimeContext;

export const askConfirmation = queueWorker(
  "ask-confirmation",
  "Mails the owner of an address the question whether an opt-in is meant.",
  uses,
  async ({ subscriber, channels }, context) => {
    // Other messages ask the same address at this moment.
    for (const channel of channels)
      await untilUncontended(busy.transient("The address is asked by other workers."), async () =>
        (await ask(context, subscriber, channel)) === "refused" ? contended : done(undefined),
      );
  },
);

type ConfirmationRequest = Extract<Awaited<ReturnType<typeof askingOf>>, { kind: "asks" }>;

interface Question {
  asking: ConfirmationRequest;
  settings: WorkspaceRecord;
  /** The channel by which the mail is sent. */
  mailer: string;
  /** The name of the topic or list of the opt-in; undefined if it is about all mail. */
  about: string | undefined;
}

async function ask(context: WorkerContext, subscriber: string, channel: string): Promise<"decided" | "refused"> {
  const { store, log } = context;
  const list = listIdOf(channel);
  if (list !== undefined) await leaveUnconfirmed(store, list, subscriber);
  const verdict = await decide(context, subscriber, channel);
  const asked = verdict.kind === "ask" ? await sendQuestion(context, subscriber, channel, verdict.question) : verdict;
  if (asked.kind !== "skip") return asked.kind;
  const message = `nobody is asked to confirm an opt-in: ${asked.why}`;
  log({ level: "info", message, tenant: store.tenant, subscriber });
  return "decided";
}

type Skip = { kind: "skip"; why: string };
const skip = (why: string): Skip => ({ kind: "skip", why });

/** Decides whether to ask the owner of the address. It only reads. */
async function decide(
  { store, workspace }: WorkerContext,
  subscriber: string,
  channel: string,
): Promise<{ kind: "ask"; question: Question } | Skip> {
  const asking = await askingOf(store, subscriber, channel);
  if (asking.kind !== "asks") return skip(asking.kind);
  const [settings, mailer] = await Promise.all([workspace(), mailChannel(store)]);
  if (settings?.status !== "active") return skip("not active");
  if (mailer === undefined) return skip("no channel of email");

  const list = listIdOf(channel);
  const topic = topicKeyOf(channel);
  const about = list === undefined ? await topicName(store, topic) : await listName(store, list);
  const isOfAllMail = list === undefined && topic === undefined;
  if (!isOfAllMail && about === undefined) return skip("what it is about is gone");
  return { kind: "ask", question: { asking, settings, mailer, about } };
}

async function sendQuestion(
  { store, clock, timers }: WorkerContext,
  subscriber: string,
  channel: string,
  { asking: { address, profile, write }, settings, mailer, about }: Question,
): Promise<{ kind: "decided" | "refused" } | Skip> {
  const confirms = { channel, address, askedAt: Math.floor(clock.now() / SECOND) };
  const language = languageOf(attributesOf(profile).locale);
  const mail = mailThatAsks(language, { sender: senderOf(settings)[0] ?? settings.name, about });
  const id = jobIdOf("api", clock.now(), store.ids.bytes(10));
  const send = { id, spec: { ...specOf(mailer, mail), confirms }, given: [subscriber], extraItems: [write] };
  const started = await startSend(store, timers, allowanceOf(settings), send).catch(beyondAllowance);
  if (started.kind === "beyond allowance") return skip(started.kind);
  return { kind: started.kind === "refused" ? "refused" : "decided" };
}

/** Ignores the refusal of a limit: a new statement asks again, once there is room. @throws any other error */
function beyondAllowance(error: unknown): { kind: "beyond allowance" } {
  if (error instanceof ApiError && error.status === 402) return { kind: "beyond allowance" };
  throw error;
}

async function mailChannel(store: WorkerContext["store"]): Promise<string | undefined> {
  return (await listChannels(store)).find((channel) => channel.type === "email" && isUsable(channel))?.id;
}

const specOf = (channel: string, { subject, text, html }: ReturnType<typeof mailThatAsks>): JobSpec => ({
  ...PLAIN_SEND,
  category: "transactional",
  title: subject,
  body: text,
  by_channel: { email: { html } },
  channel_ids: [channel],
  subscriber_ids_count: 1,
  bypass_quiet_hours: true,
  source: { type: "api", id: null },
});

const plain = (text: string): string => text.replaceAll(/[{}%]/g, "").trim();

/** Makes the mail that asks. @param options.about the name of the topic or list of the opt-in, if it has one */
function mailThatAsks(
  { code, words }: Language,
  { sender, about }: { sender: string; about: string | undefined },
): { subject: string; text: string; html: string } {
  const what = about === undefined ? plain(sender) : `${plain(sender)}: ${plain(about)}`;
  const { confirm, confirmAsk, confirmIgnore } = words;
  return {
    subject: `${confirm}: ${what}`,
    text: `${confirmAsk}\n\n${what}\n\n${CONFIRM_LINK}\n\n${confirmIgnore}`,
    html: cardHtml({
      lang: code,
      heading: what,
      before: [confirmAsk],
      button: { label: confirm, url: CONFIRM_LINK },
      after: [confirmIgnore],
    }),
  };
}
