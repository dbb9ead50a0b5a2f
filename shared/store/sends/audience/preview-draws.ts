// The draw of a preview: who is held out and who gets variant B. A send that names the preview uses its draw (AMB-140).
// Nothing is stored: the id of a preview is a sealed text.
import * as v from "valibot";
import { openCursor, sealCursor } from "../../../contract/paging.ts";
import { MINUTE } from "../../../kernel/clock.ts";
import { invalid } from "../../../kernel/errors.ts";
import type { StoreReader } from "../../context.ts";
import { hashOf } from "../../hash.ts";
import type { RootSecrets } from "../../secrets.ts";
import type { JobSpec } from "../jobs/job-spec.ts";

/** How long a send may use the draw of a preview. */
const VALID_MS = 10 * MINUTE;
const DIGEST_LENGTH = 16;

const Sealed = v.tuple([v.string(), v.number(), v.string()]);

type Asked = { spec: JobSpec; given: readonly string[] | undefined };

/** Of what is sent and to whom. Its name and its limits may change after the preview. */
function digestOf({ spec, given }: Asked): string {
  const { category, topic, template_id, channel_ids, target, scheduled_at, bypass_quiet_hours } = spec;
  const { title, body, by_channel, data, device_filters, subscriber_filters, variant_b, chat_app } = spec;
  const { channel_arbitration_mode: mode, holdout_percentage, split_percentage } = spec;
  const said = [title, body, by_channel, data, variant_b, chat_app, template_id, channel_ids, mode, category, topic];
  const whom = [target, given, device_filters, subscriber_filters, holdout_percentage, split_percentage];
  return hashOf(JSON.stringify([said, whom, scheduled_at, bypass_quiet_hours])).slice(0, DIGEST_LENGTH);
}

const scopeOf = ({ tenant }: StoreReader) => `preview:${tenant}`;

/** The id of a preview that drew under this id. */
export const previewId = (store: StoreReader, secrets: RootSecrets, draw: string, asked: Asked): string =>
  sealCursor(secrets, scopeOf(store), [draw, store.clock.now(), digestOf(asked)]);

/** The draw of a preview. @throws 422 for an id that is none, is too old, or is of none of these bodies */
export function drawOf(store: StoreReader, secrets: RootSecrets, id: string, ...asked: readonly Asked[]): string {
  const sealed = v.safeParse(Sealed, openCursor(secrets, scopeOf(store), id, "preview_id"));
  if (!sealed.success) throw invalid({ preview_id: "is not the id of a preview" });
  const [draw, at, digest] = sealed.output;
  if (store.clock.now() >= at + VALID_MS)
    throw invalid({ preview_id: "is older than 10 minutes: preview the send again" });
  if (!asked.some((one) => digestOf(one) === digest))
    throw invalid({ preview_id: "is of another send: preview this one" });
  return draw;
}
