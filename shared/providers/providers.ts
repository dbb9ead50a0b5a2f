// The providers of a function, over one egress client.
import type { Credentials } from "../contract/credentials.ts";
import { egressOf, type OutboundDeps } from "../egress/recording.ts";
import { type Capability, type Deps, perEnvironment, type Sandbox } from "../kernel/deps.ts";
import { errorFields } from "../kernel/log.ts";
import { type ProvidedChannel, providedChannels } from "../rules/channel-types.ts";
import { channels } from "../rules/channels.ts";
import { openOutbox } from "../store/sandbox/outbox.ts";
import { androidProvider } from "./android.ts";
import { type ChatAppProvider, chatAppProvider, type TemplateAnswer } from "./chat-app.ts";
import { emailProvider } from "./email.ts";
import { iosProvider } from "./ios.ts";
import {
  type Addresses,
  type AddressKinds,
  accepted,
  type Outcome,
  type Provider,
  type Providers,
  retryable,
  type Verification,
} from "./provider.ts";
import { openSes } from "./ses.ts";
import { smsProvider } from "./sms.ts";
import { openSmtp } from "./smtp.ts";
import { webPushProvider } from "./web-push.ts";

/** The provider of every type of channel; in a sandbox those that record messages and send none. */
export function openProviders(deps: OutboundDeps): Providers {
  if (deps.sandbox) return recordingProviders(deps, deps.sandbox);
  const { clock, ids, log } = deps;
  const client = { egress: egressOf(deps), clock };
  return {
    ios: neverThrowing(iosProvider(client), log),
    android: neverThrowing(androidProvider(client), log),
    web_push: neverThrowing(webPushProvider({ ...client, ids }), log),
    email: neverThrowing(emailProvider({ clock, ses: openSes(deps), smtp: openSmtp(client) }), log),
    sms: neverThrowing(smsProvider(client), log),
    chat_app: neverThrowing(chatAppProvider(client), log),
  };
}

/**
 * Makes a provider return an outcome instead of throwing. An answer in an undocumented form may be about an accepted
 * message, and must not affect the outcomes of other messages.
 */
const neverThrowing = <C, A>(provider: Provider<C, A>, log: Deps["log"]): Provider<C, A> => ({
  ...provider,
  send: (credentials, message) =>
    provider.send(credentials, message).catch((error): Outcome => {
      const { job, target } = message;
      log({
        level: "error",
        message: "the answer of a provider could not be read",
        job,
        target,
        ...errorFields(error),
      });
      return { kind: "unknown", reason: "unreadable_answer" };
    }),
});

/** Sends by every provider, and verifies credentials. */
export const providers: Capability<"providers", Providers> = {
  as: "providers",
  env: [],
  grants: [{ actions: ["ses:SendEmail", "ses:SendRawEmail", "ses:GetEmailIdentity"], on: "email-identities" }],
  open: (deps: OutboundDeps & { providers?: Providers }) => {
    const opened = (deps.sandbox ? undefined : deps.providers) ?? openProviders(deps);
    return () => opened;
  },
};

/** Verifies credentials, without the right to send. */
export const credentialProof: Capability<
  "proof",
  (type: ProvidedChannel, credentials: Credentials) => Promise<Verification>
> = {
  as: "proof",
  env: ["STRANGERS"],
  grants: [{ actions: ["ses:GetEmailIdentity"], on: "email-identities" }],
  open: (deps) => {
    const opened = openProviders(deps);
    // A channel accepts only credentials of its own type (AMB-19), so they match its provider.
    return (tenant) => (type, credentials) =>
      (opened[type] as Provider<Credentials, never>).verify(credentials, tenant);
  },
};

/** The chat app's provider alone, for its templates. */
export const chatApp = /* @__PURE__ */ perEnvironment("chatApp", {}, (deps) =>
  deps.sandbox
    ? { ...recordingProviders(deps, deps.sandbox).chat_app, ...recordingTemplates }
    : chatAppProvider({ egress: egressOf(deps), clock: deps.clock }),
);

/** The field that identifies an address of a channel. */
const namedBy: { readonly [K in keyof AddressKinds]: (address: AddressKinds[K]) => string } = {
  token: ({ token }) => token,
  subscription: ({ endpoint }) => endpoint,
  email: ({ email }) => email,
  phone: ({ phone }) => phone,
};

/** The name of an address. The compiler cannot see that an address is of the kind of its channel. */
const nameOf = <T extends ProvidedChannel>(channel: T, address: Addresses[T]): string =>
  (namedBy[channels[channel].address] as (address: Addresses[T]) => string)(address);

function recordingProviders(deps: Deps, sandbox: Sandbox): Providers {
  const record = openOutbox(deps, sandbox);
  const recording = <T extends ProvidedChannel>(channel: T): Provider<unknown, Addresses[T]> => ({
    verify: async () => ({ kind: "verified" }),
    send: async (_, { subscriber, job, address, title, body, parts, data, unsubscribeUrl }) => {
      const headers = {
        ...(data && { data: JSON.stringify(data) }),
        ...(unsubscribeUrl !== undefined && { "List-Unsubscribe": unsubscribeUrl }),
      };
      const sent = { channel, to: nameOf(channel, address), subscriber_id: subscriber, job_id: job, title, headers };
      try {
        return accepted(await record({ ...sent, body: parts?.html ?? body }));
      } catch (error) {
        deps.log({ level: "warn", message: "a message could not be recorded", job, ...errorFields(error) });
        return retryable("outbox_unavailable");
      }
    },
  });
  // One recorder for each channel.
  return Object.fromEntries(providedChannels.map((channel) => [channel, recording(channel)])) as Providers;
}

const approved = async (_: unknown, { name }: { name: string }): Promise<TemplateAnswer> => ({
  kind: "found",
  template: { id: `sandbox-${name}`, status: "APPROVED" },
});

/** Templates of the chat app are approved at once. */
const recordingTemplates: Omit<ChatAppProvider, "send" | "verify"> = {
  createTemplate: approved,
  changeTemplate: async (_, id) => ({ kind: "found", template: { id, status: "APPROVED" } }),
  findTemplate: async () => undefined,
  readTemplate: async (_, id) => ({ kind: "found", template: { id, status: "APPROVED" } }),
};
