// What would send by a channel or a template.
import { cronWords } from "../app/cron-words.ts";
import { pathTo } from "../app/router.ts";

interface NamedEntity {
  id: string;
  name: string;
}

interface UsesByKind {
  campaigns: readonly NamedEntity[];
  journeys: readonly NamedEntity[];
  schedules: readonly { id: string; cron_expression: string }[];
  /** The experiences that use a channel. */
  experiences?: readonly NamedEntity[];
}

export function UsedBy({ used: { campaigns, journeys, schedules, experiences = [] } }: { used: UsesByKind }) {
  const links = [
    ...campaigns.map(({ id, name }) => ({ id, href: pathTo("campaigns", id), text: `the campaign ${name}` })),
    ...journeys.map(({ id, name }) => ({ id, href: pathTo("journeys", id), text: `the journey ${name}` })),
    ...experiences.map(({ id, name }) => ({
      id,
      href: pathTo("content", `experiences/${id}`),
      text: `the experience ${name}`,
    })),
    ...schedules.map(({ id, cron_expression: cron }) => ({
      id,
      href: pathTo("content", "schedules"),
      text: `the schedule ${cronWords(cron)}`,
    })),
  ];
  if (links.length === 0) return <>no released campaign, active journey or schedule</>;
  return (
    <ul>
      {links.map(({ id, href, text }) => (
        <li key={id}>
          <a href={href}>{text}</a>
        </li>
      ))}
    </ul>
  );
}
