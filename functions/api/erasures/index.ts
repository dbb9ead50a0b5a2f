// Receipts of erasures: what was removed of a subscriber, signed (F14).
import * as v from "valibot";
import { said } from "../../../shared/contract/schemas.ts";
import { endpoints, group } from "../../../shared/http/endpoint.ts";
import { SECOND } from "../../../shared/kernel/clock.ts";
import { requireFound } from "../../../shared/kernel/errors.ts";
import { secrets } from "../../../shared/store/capabilities.ts";
import { storeRead } from "../../../shared/store/context.ts";
import { noSecrets } from "../../../shared/store/secrets.ts";
import {
  ErasureReceipt,
  receiptKey,
  receiptOf,
  signReceipt,
} from "../../../shared/store/subscribers/erasure-receipts.ts";

const SignedReceipt = v.object({
  ...ErasureReceipt.entries,
  receipt: said(
    "The answer as a signed JWT (EdDSA) for your records, with the workspace as `tenant_id`; null until the erasure is " +
      "completed. `GET /.well-known/receipts.json` has the key",
    v.nullable(v.string()),
  ),
});

const endpoint = endpoints({ credentials: ["dashboard"], uses: [] });

export const erasures = group("erasures", "What was removed of erased subscribers.", [
  endpoint(
    "GET /api/v1/erasures/:id",
    { uses: [storeRead, secrets] },
    {
      summary: "Get the receipt of an erasure",
      description: "The id is that of the erased subscriber. Counts are by store; the completed receipt is signed.",
      returns: SignedReceipt,
    },
    async ({ store, secrets, params }) => {
      const receipt = requireFound(await receiptOf(store, params.id), "erasure");
      if (receipt.completed_at === null) return { ...receipt, receipt: null };
      const iat = Math.floor(Date.parse(receipt.completed_at) / SECOND);
      const claims = { iat, sub: receipt.subscriber_id, tenant_id: store.tenant, ...receipt };
      return { ...receipt, receipt: signReceipt(await secrets.root(), claims) };
    },
  ),

  endpoint(
    "GET /.well-known/receipts.json",
    { credentials: [], effect: "read", uses: [secrets] },
    {
      summary: "The public key that verifies receipts",
      returns: v.object({ keys: v.array(v.record(v.string(), v.string())) }),
    },
    async ({ secrets }) => {
      const root = await secrets.root().catch(noSecrets);
      return { keys: root ? [receiptKey(root)] : [] };
    },
  ),
]);
