// The providers of a sandbox: every message is accepted, and is in its outbox instead of with a provider.
import type { Deps, Sandbox } from "../kernel/deps.ts";
import { errorFields } from "../kernel/log.ts";
import { type ProvidedChannel, providedChannels } from "../rules/channel-types.ts";
import { channels } from "../rules/channels.ts";
import { openOutbox } from "../store/sandbox/outbox.ts";
import type { ChatAppProvider, TemplateAnswer } from "./chat-app.ts";
import { type Addresses, type AddressKinds, accepted, type Provider, type Providers, retryable } from "./provider.ts";

/** What names an address of a channel. */
const namedBy: { readonly [K in keyof AddressKinds]: (address: AddressKinds[K]) => string } = {
  token: ({ token }) => token,
  subscription: ({ endpoint }) => endpoint,
  email: ({ email }) => email,
  phone: ({ phone }) => phone,
};

/** An address is of the kind of its channel: the compiler cannot see that the two belong together. */
const nameOf = <T extends ProvidedChannel>(channel: T, address: Addresses[T]): string =>
  (namedBy[channels[channel].address] as (address: Addresses[T]) => string)(address);

export function recordingProviders(deps: Deps, sandbox: Sandbox): Providers {
  const record = openOutbox(deps, sandbox);
  const recording = <T extends ProvidedChannel>(channel: T): Provider<unknown, Addresses[T]> => ({
    verify: async () => ({ ok: true }),
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
  // One for each of them.
  return Object.fromEntries(providedChannels.map((channel) => [channel, recording(channel)])) as Providers;
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
