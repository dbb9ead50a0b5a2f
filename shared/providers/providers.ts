// The providers of a function, over one egress client.

import type { Credentials } from "../contract/credentials.ts";
import type { Egress } from "../egress/egress.ts";
import { egressOf, type OutboundDeps } from "../egress/recording.ts";
import type { Capability } from "../kernel/deps.ts";
import type { ProvidedChannel } from "../rules/channel-types.ts";
import { androidProvider } from "./android.ts";
import { type ChatAppProvider, chatAppProvider } from "./chat-app.ts";
import { emailProvider } from "./email.ts";
import { iosProvider } from "./ios.ts";
import type { Provider, Providers, Verification } from "./provider.ts";
import { recordingProviders, recordingTemplates } from "./recording.ts";
import { openSes } from "./ses.ts";
import { smsProvider } from "./sms.ts";
import { openSmtp } from "./smtp.ts";
import { webPushProvider } from "./web-push.ts";

export function openProviders(deps: OutboundDeps, egress: Egress = egressOf(deps)): Providers {
  if (deps.sandbox) return recordingProviders(deps, deps.sandbox);
  const { clock, ids } = deps;
  const client = { egress, clock };
  return {
    ios: iosProvider(client),
    android: androidProvider(client),
    web_push: webPushProvider({ ...client, ids }),
    email: emailProvider({ clock, ses: openSes(deps), smtp: openSmtp(client) }),
    sms: smsProvider(client),
    chat_app: chatAppProvider(client),
  };
}

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
  env: [],
  grants: [{ actions: ["ses:GetEmailIdentity"], on: "email-identities" }],
  open: (deps) => {
    const opened = openProviders(deps);
    // A channel accepts only credentials of its own type (AMB-19), so they are those of its provider.
    return () => (type, credentials) => (opened[type] as Provider<Credentials, never>).verify(credentials);
  },
};

/** The chat app's provider alone, for its templates. */
export const chatApp: Capability<"chatApp", ChatAppProvider> = {
  as: "chatApp",
  env: [],
  grants: [],
  open: (deps) => {
    const opened = deps.sandbox
      ? { ...recordingProviders(deps, deps.sandbox).chat_app, ...recordingTemplates }
      : chatAppProvider({ egress: egressOf(deps), clock: deps.clock });
    return () => opened;
  },
};
