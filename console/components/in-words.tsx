// An answer of the service in words: a paragraph for each line, with times in the zone of this machine, as everywhere here.
import { MOMENT } from "../../shared/rules/why-details.ts";
import { momentText } from "../app/time.ts";

const inZone = (line: string): string =>
  line.replaceAll(MOMENT, (_, day: string, time: string) => momentText(`${day}T${time}Z`));

export const InWords = ({ text }: { text: string }) => (
  <>
    {text.split("\n").map((line, n) => (
      <p key={n}>{inZone(line)}</p>
    ))}
  </>
);
