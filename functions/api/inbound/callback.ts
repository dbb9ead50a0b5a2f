// Reads a signed callback of the chat app: verdicts on templates and text messages. Everything else is ignored.
import * as v from "valibot";
import { SECOND } from "../../../shared/kernel/clock.ts";
import { badRequest } from "../../../shared/kernel/errors.ts";
import { checkJson } from "../../../shared/rules/json-limits.ts";

export interface ReportedVerdict {
  provider_template_id: string;
  name: string;
  language: string;
  /** The status in the provider's words. */
  status: string;
  reason: string | undefined;
  /** Seconds since the epoch, by the provider's clock. */
  at: number;
}

export interface ReceivedMessage {
  id: string;
  /** A phone number in E.164 form. */
  phone: string;
  text: string;
  /**
   * Milliseconds, by the provider's clock. It is the end of the second, so that it is not before anything that happened
   * in it.
   */
  at: number;
}

/** The provider sends up to 1,000 changes in one callback. Its signature is verified first. */
const SIGNED_LIMITS = { keys: 100_000, elements: 100_000, characters: 4_194_304 };

const Seconds = v.pipe(
  v.union([v.number(), v.string()]),
  v.transform(Number),
  v.integer(),
  v.minValue(0),
  v.maxValue(1e11),
);

const Review = v.object({
  message_template_id: v.pipe(v.union([v.number(), v.string()]), v.transform(String)),
  message_template_name: v.string(),
  message_template_language: v.string(),
  event: v.string(),
  reason: v.nullish(v.string()),
});

const Written = v.object({
  id: v.pipe(v.string(), v.maxLength(512)),
  from: v.pipe(v.string(), v.regex(/^[1-9]\d{6,14}$/)),
  timestamp: Seconds,
  text: v.optional(v.object({ body: v.string() })),
  button: v.optional(v.object({ text: v.string() })),
});

const Callback = v.object({
  entry: v.array(
    v.object({
      id: v.string(),
      time: v.optional(Seconds),
      changes: v.array(v.object({ field: v.string(), value: v.unknown() })),
    }),
  ),
});

const Messages = v.object({
  metadata: v.object({ phone_number_id: v.string() }),
  messages: v.optional(v.array(v.unknown()), []),
});

/**
 * Reads the known parts of a callback that concern this account. A provider may add others at any time.
 * @throws 400 for a body that is not a callback
 */
export function readCallback(
  raw: Buffer,
  account: { waba_id?: string; phone_number_id?: string },
): { verdicts: ReportedVerdict[]; messages: ReceivedMessage[] } {
  const callback = v.safeParse(Callback, jsonOf(raw));
  if (!callback.success) throw badRequest("The body is not a callback of the chat app.");
  const entries = callback.output.entry.filter(({ id }) => id === account.waba_id);
  const changes = entries.flatMap(({ time = 0, changes: all }) => all.map((change) => ({ ...change, time })));
  const of = (field: string) => changes.filter((change) => change.field === field);
  return {
    verdicts: of("message_template_status_update").flatMap(({ value, time }) => {
      const { success, output } = v.safeParse(Review, value);
      if (!success) return [];
      return {
        provider_template_id: output.message_template_id,
        name: output.message_template_name,
        language: output.message_template_language,
        status: output.event,
        reason: output.reason ?? undefined,
        at: time,
      };
    }),
    messages: of("messages").flatMap(({ value }) => {
      const { success, output } = v.safeParse(Messages, value);
      if (!success || output.metadata.phone_number_id !== account.phone_number_id) return [];
      return output.messages.flatMap(messageOf);
    }),
  };
}

function messageOf(value: unknown): ReceivedMessage[] {
  const { success, output } = v.safeParse(Written, value);
  const text = success ? (output.text?.body ?? output.button?.text) : undefined;
  if (!success || text === undefined) return [];
  return [{ id: output.id, phone: `+${output.from}`, text, at: output.timestamp * SECOND + SECOND - 1 }];
}

function jsonOf(raw: Buffer): unknown {
  try {
    const value: unknown = JSON.parse(raw.toString("utf8"));
    return typeof value === "object" && value !== null && checkJson(value, SIGNED_LIMITS) === undefined
      ? value
      : undefined;
  } catch {
    return undefined;
  }
}
