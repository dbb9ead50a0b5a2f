// The providers of a sandbox: every message is accepted, and is in its outbox instead of with a provider.
import type { Deps, Sandbox } from "../kernel/deps.ts";
import { errorFields } from "../kernel/log.ts";
import type { ProvidedChannel } from "../rules/reach.ts";
import type { OutboxChannel } from "../store/sandbox/items.ts";
import { openOutbox } from "../store/sandbox/outbox.ts";
import type { ChatAppProvider, TemplateAnswer } from "./chat-app.ts";
import { type Addresses, accepted, type Provider, type Providers, retryable } from "./provider.ts";

/** What names an address of a channel. */
const namedBy: { readonly [T in ProvidedChannel]: (address: Addresses[T]) => string } = {
  ios: ({ token }) => token,
  android: ({ token }) => token,
  web_push: ({ endpoint }) => endpoint,
  email: ({ email }) => email,
  sms: ({ phone }) => phone,
  chat_app: ({ phone }) => phone,
};

export function recordingProviders(deps: Deps, sandbox: Sandbox): Providers {
  const record = openOutbox(deps, sandbox);
  const recording = <T extends ProvidedChannel & OutboxChannel>(channel: T): Provider<unknown, Addresses[T]> => ({
    verify: async () => ({ ok: true }),
    send: async (_, { subscriber, job, address, title, body, parts, data, unsubscribeUrl }) => {
      const headers = {
        ...(data && { data: JSON.stringify(data) }),
        ...(unsubscribeUrl !== undefined && { "List-Unsubscribe": unsubscribeUrl }),
      };
      const sent = { channel, to: namedBy[channel](address), subscriber_id: subscriber, job_id: job, title, headers };
      try {
        return accepted(await record({ ...sent, body: parts?.html ?? body }));
      } catch (error) {
        deps.log({ level: "warn", message: "a message could not be recorded", job, ...errorFields(error) });
        return retryable("outbox_unavailable");
      }
    },
  });
  return {
    ios: recording("ios"),
    android: recording("android"),
    web_push: recording("web_push"),
    email: recording("email"),
    sms: recording("sms"),
    chat_app: recording("chat_app"),
  };
}

const approved = async (_: unknown, { name }: { name: string }): Promise<TemplateAnswer> => ({
  ok: true,
  template: { id: `sandbox-${name}`, status: "APPROVED" },
});

/** Templates of the chat app are approved at once. */
export const recordingTemplates: Omit<ChatAppProvider, "send" | "verify"> = {
  createTemplate: approved,
  changeTemplate: async (_, id) => ({ ok: true, template: { id, status: "APPROVED" } }),
  findTemplate: async () => undefined,
  readTemplate: async (_, id) => ({ ok: true, template: { id, status: "APPROVED" } }),
};
