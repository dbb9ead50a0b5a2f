// What an import says of columns and consents, in words.
import type { Import } from "../../../sdk/src/types.gen.ts";
import { number, plural } from "../../app/time.ts";
import { inWords } from "../../components/field.tsx";

const NAMES: Readonly<Record<string, string>> = { external_id: "External ID", timezone: "Time zone" };

/** `attribute:city` as `Attribute city`, `first_name` as `First name`. */
export function meaningText(meaning: string): string {
  if (meaning === "ignore") return "Leave out";
  if (meaning === "consent evidence") return "Whether and when they agreed";
  const name = NAMES[meaning];
  if (name) return name;
  const text = inWords(meaning.replace(/^attribute:(.*)$/, "attribute “$1”").replace(/^topic:/, "topic "));
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}

/** What becomes of the phone numbers of a file; empty where it has none. */
export const phoneLines = ({ kept, converted, unreadable }: Import["phone_summary"]): string[] =>
  [
    [kept + converted, "can be sent to"] as const,
    [unreadable, "cannot be read: nothing is sent to them"] as const,
  ].flatMap(([count, what]) => (count > 0 ? [`${number(count)} ${what}`] : []));

type Summary = Import["consent_summary"];

/** What becomes of the consents of a file; empty where it says nothing of them. */
export function consentLines({ yes_without_time, future, unknown, ...known }: Summary): string[] {
  const others = unknown - yes_without_time - future;
  const lines = [
    ...Object.entries(known).map(([name, count]) => [count, inWords(name)] as const),
    [others, "not known"] as const,
    [yes_without_time, "with a yes but no time: not known until you say when"] as const,
    [future, "with a time ahead of now: not known"] as const,
  ];
  return lines.flatMap(([count, what]) => (count > 0 ? [`${plural(count, "row")} ${what}`] : []));
}
