// The draw of a preview: who is held out and who gets variant B. A send that names the preview uses its draw (AMB-140).
// Nothing is stored: the id of a preview is a sealed text.
import * as v from "valibot";
import type { NewNotification } from "../../../contract/notification-input.ts";
import { openCursor, sealCursor } from "../../../contract/paging.ts";
import { MINUTE } from "../../../kernel/clock.ts";
import { invalid } from "../../../kernel/errors.ts";
import { armOf, HALF, isHeldOut } from "../../../rules/split.ts";
import type { StoreReader } from "../../context.ts";
import { hashOf } from "../../hash.ts";
import type { RootSecrets } from "../../secrets.ts";
import { named } from "../content/apart.ts";
import type { JobSpec } from "../jobs/job-spec.ts";

/** How long a send may use the draw of a preview. */
const VALID_MS = 10 * MINUTE;
const DIGEST_LENGTH = 16;

const Sealed = v.object({
  draw: v.string(),
  at: v.number(),
  digest: v.string(),
  /** The digest of the message alone, which a test of the send has too. */
  message: v.string(),
  holdout: v.number(),
  split: v.number(),
});
type Sealed = v.InferOutput<typeof Sealed>;

/** The ids as the request names them: later changes of their owners do not make it another send. */
type DrawRequest = { spec: JobSpec; named: readonly string[] | undefined };

export function namedIn({ external_ids, subscriberIds }: Pick<NewNotification, "external_ids" | "subscriberIds">) {
  const ids = external_ids ?? subscriberIds;
  return ids && [...new Set(ids)];
}

const digest = (said: unknown): string => hashOf(JSON.stringify(said)).slice(0, DIGEST_LENGTH);

/** Mails by name: a preview has the whole mails, and a row of a campaign or send may only name them. */
const saidBy = (spec: JobSpec) => {
  const { title, body, by_channel, data, variant_b, chat_app, template_id, channel_ids, category, topic } = named(spec);
  return [title, body, by_channel, data, variant_b, chat_app, template_id, channel_ids, category, topic];
};

/** The digest of the content and the audience. The name and the limits may change after the preview. */
function digestOf({ spec, named }: DrawRequest): string {
  const { target, scheduled_at, bypass_quiet_hours, device_filters, subscriber_filters } = spec;
  const { channel_arbitration_mode, holdout_percentage, split_percentage } = spec;
  const whom = [target, named, device_filters, subscriber_filters, holdout_percentage, split_percentage];
  return digest([saidBy(spec), whom, channel_arbitration_mode, scheduled_at, bypass_quiet_hours]);
}

const scopeOf = ({ tenant }: StoreReader) => `preview:${tenant}`;

/** The id of a preview that drew under this id. */
export function previewId(store: StoreReader, secrets: RootSecrets, draw: string, asked: DrawRequest): string {
  const { spec } = asked;
  const sealed: Sealed = {
    draw,
    at: store.clock.now(),
    digest: digestOf(asked),
    message: digest(saidBy(spec)),
    holdout: spec.holdout_percentage,
    split: spec.split_percentage ?? HALF,
  };
  return sealCursor(secrets, scopeOf(store), sealed);
}

/** Opens the id of a preview. @throws 422 for an invalid or old id */
function opened(store: StoreReader, secrets: RootSecrets, id: string): Sealed {
  const none = "is not the id of a preview";
  const sealed = v.safeParse(Sealed, openCursor(secrets, scopeOf(store), id, "preview_id", none));
  if (!sealed.success) throw invalid({ preview_id: none });
  if (store.clock.now() >= sealed.output.at + VALID_MS)
    throw invalid({ preview_id: "is older than 10 minutes: preview the send again" });
  return sealed.output;
}

const ofAnother = () => invalid({ preview_id: "is of another send: preview this one" });

/** The draw of a preview. @throws 422 for an invalid or old id, or one of other bodies */
export function drawOf(store: StoreReader, secrets: RootSecrets, id: string, ...asked: readonly DrawRequest[]): string {
  const { draw, digest } = opened(store, secrets, id);
  if (!asked.some((request) => digestOf(request) === digest)) throw ofAnother();
  return draw;
}

/** Which recipients of a test are held out of the previewed send, and which arm the others get. */
export interface TestDraw {
  isHeldOut(subscriber: string): boolean;
  armOf(subscriber: string): "a" | "b" | undefined;
}

/** The draw of a preview for a test of its message. @throws 422 as `drawOf`, and for one of another message */
export function testDrawOf(store: StoreReader, secrets: RootSecrets, id: string, spec: JobSpec): TestDraw {
  const { draw, message, holdout, split } = opened(store, secrets, id);
  if (message !== digest(saidBy(spec))) throw ofAnother();
  return {
    isHeldOut: (subscriber) => isHeldOut(draw, subscriber, holdout),
    armOf: (subscriber) => (spec.variant_b ? armOf(draw, subscriber, split) : undefined),
  };
}
