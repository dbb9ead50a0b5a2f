// A revoked key is rejected from the acknowledgment of its revocation on; other keys are never rejected.
import type { Invariant } from "../invariant.ts";

export const revocation: Invariant = {
  name: "revocation",
  watch: ({ ledger, mirror }, broken) => ({
    end: () => {
      for (const { key, at, status } of ledger.uses) {
        const isRevoked = key.revokedAt !== undefined && key.revokedAt < at;
        if (isRevoked && status !== 401 && status !== 0 && status < 500)
          broken(`${key.id} was revoked and got ${status} afterwards`, key.id);
        const credential = mirror.get(`T#${key.tenant}#server-key`, key.id)?.credential;
        const isWhole = mirror.get(String(credential), String(credential))?.revoked_at === undefined;
        if (isWhole && status === 401) broken(`${key.id} was never revoked and got 401`, key.id);
      }
    },
  }),
};
