// E-mail: one source, sent by SES or by an SMTP server (D-EMAIL).

import type { CredentialsFor } from "../contract/credentials.ts";
import type { Clock } from "../kernel/clock.ts";
import { mailSource } from "./mail-source.ts";
import { type Addresses, type Provider, rejected } from "./provider.ts";
import type { Ses } from "./ses.ts";
import type { Smtp } from "./smtp.ts";

interface EmailDeps {
  clock: Clock;
  ses: Ses;
  smtp: Smtp;
}

export function emailProvider({ clock, ses, smtp }: EmailDeps): Provider<CredentialsFor<"email">, Addresses["email"]> {
  return {
    send: async (credentials, message) => {
      const mail = mailSource(credentials, message, clock.now());
      if ("refused" in mail) return rejected(mail.refused, mail.refused === "invalid_address");
      const { source } = mail;
      if (credentials.provider === "ses") return ses.send(credentials, message, source);
      return smtp.send(credentials, message.address.email, source);
    },
    verify: (credentials) => (credentials.provider === "ses" ? ses : smtp).verify(credentials),
  };
}
