// All providers of a function, over one egress client.
import { type Egress, openEgress } from "../egress/egress.ts";
import type { Capability, Parts } from "../parts.ts";
import { androidProvider } from "./android.ts";
import { type ChatAppProvider, chatAppProvider } from "./chat-app.ts";
import type { Credentials } from "./credentials.ts";
import { emailProvider } from "./email.ts";
import { iosProvider } from "./ios.ts";
import type { ProvidedChannel, Provider, Providers, Verification } from "./provider.ts";
import { openSes } from "./ses.ts";
import { smsProvider } from "./sms.ts";
import { openSmtp } from "./smtp.ts";
import { webPushProvider } from "./web-push.ts";

export function openProviders(parts: Parts, egress: Egress = openEgress(parts)): Providers {
  const { clock, ids } = parts;
  const outside = { egress, clock };
  return {
    ios: iosProvider(outside),
    android: androidProvider(outside),
    web_push: webPushProvider({ ...outside, ids }),
    email: emailProvider({ clock, ses: openSes(parts), smtp: openSmtp(outside) }),
    sms: smsProvider(outside),
    chat_app: chatAppProvider(outside),
  };
}

/** Sending by every provider, and proving credentials to them. */
export const providers: Capability<"providers", Providers> = {
  as: "providers",
  env: [],
  grants: [{ actions: ["ses:SendEmail", "ses:SendRawEmail", "ses:GetEmailIdentity"], on: "email-identities" }],
  open: (parts) => {
    const opened = parts.providers ?? openProviders(parts);
    return () => opened;
  },
};

/** Proving credentials to their providers, without the right to send. */
export const credentialProof: Capability<
  "proof",
  (type: ProvidedChannel, credentials: Credentials) => Promise<Verification>
> = {
  as: "proof",
  env: [],
  grants: [{ actions: ["ses:GetEmailIdentity"], on: "email-identities" }],
  open: (parts) => {
    const opened = openProviders(parts);
    // A channel takes only credentials of its own type (AMB-19), so they fit its provider.
    return () => (type, credentials) => (opened[type] as Provider<Credentials, never>).verify(credentials);
  },
};

/** The templates of the chat app at its provider, without the other providers. */
export const chatApp: Capability<"chatApp", ChatAppProvider> = {
  as: "chatApp",
  env: [],
  grants: [],
  open: (parts) => {
    const opened = chatAppProvider({ egress: openEgress(parts), clock: parts.clock });
    return () => opened;
  },
};
