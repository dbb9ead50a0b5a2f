// Activity: what goes out now and what went out; one send with its counts; why one person did or did not get it.
import { jobStatuses } from "../../../shared/rules/job-states.ts";
import { ask } from "../../app/query.ts";
import { type Address, pathTo, place, setQuery } from "../../app/router.ts";
import { usePages } from "../../app/rows.ts";
import { sendName } from "../../app/send-name.ts";
import { me } from "../../app/session.ts";
import { number } from "../../app/time.ts";
import { Badge, stateOf } from "../../components/badge.tsx";
import { Collection } from "../../components/collection.tsx";
import { asOptions } from "../../components/field.tsx";
import { chosenOf, Filter, Search, searched } from "../../components/filters.tsx";
import { Time } from "../../components/page.tsx";
import { Send } from "./send.tsx";

const EVERY_MS = 5_000;
/** The counts, the report and the recipients of one send. */
export function ahead({ parts: [id], query }: Address): void {
  if (!id) return;
  ask("notifications.get", id);
  ask("notifications.getReport", id);
  if (query.size === 0) ask("recipients.list", id, {});
}

export function View() {
  const [id] = place.value.parts;
  return id ? <Send key={id} id={id} /> : <Sends />;
}

const SOURCES: Record<string, string> = {
  api: "One-off",
  notification: "One-off",
  campaign: "Campaign",
  journey: "Journey",
  schedule: "Schedule",
  experience: "Experience",
};

function Sends() {
  const status = chosenOf("status", jobStatuses);
  const withJourneys = place.value.query.get("journeys") === "1";
  const q = searched();
  const where = me.value?.tenant.name ?? "this workspace";
  const asked = {
    limit: 50,
    ...(q && { q }),
    ...(status && { status }),
    ...(!withJourneys && { exclude_source_type: "journey" as const }),
  };
  const rows = usePages("notifications.list", [asked], ({ items }) => items, { every: EVERY_MS });
  return (
    <Collection
      noun="send"
      page={{
        title: "Activity",
        about: "Every send, the last made first. Open one to see who got it, and why someone did not.",
      }}
      caption="Sends"
      rows={rows}
      usual={8}
      keyOf={({ id }) => id}
      hrefOf={({ id }) => pathTo("activity", id)}
      filters={
        <>
          <Search label="Search by name or title" />
          <Filter
            name="status"
            label="Status"
            value={status ?? ""}
            options={[{ value: "", label: "All statuses" }, ...asOptions(jobStatuses)]}
          />
          <label class="check">
            <input
              type="checkbox"
              checked={withJourneys}
              onInput={(event) => setQuery({ journeys: event.currentTarget.checked ? "1" : undefined })}
            />
            Include messages of journeys
          </label>
        </>
      }
      empty={{
        title:
          q || status ? `Nothing in ${where} is ${q ? "called that" : status}.` : `Nothing was sent in ${where} yet.`,
        about: !withJourneys && "Messages of journeys are not shown here unless you ask for them.",
        action: <a href={pathTo("send")}>Write a message</a>,
      }}
      columns={[
        {
          title: "Message",
          cell: sendName,
        },
        { title: "Status", cell: (send) => <Badge state={stateOf(send)} /> },
        {
          title: "Source",
          isMinor: true,
          isWord: true,
          cell: ({ source }) => <span class="dim">{SOURCES[source.type] ?? source.type}</span>,
        },
        { title: "People", isMinor: true, isNumber: true, cell: ({ counts }) => number(counts.total) },
        { title: "Delivered", isMinor: true, isNumber: true, cell: ({ counts }) => number(counts.delivered) },
        { title: "Failed", isMinor: true, isNumber: true, cell: ({ counts }) => number(counts.failed) },
        { title: "Skipped", isMinor: true, isNumber: true, cell: ({ counts }) => number(counts.skipped) },
        { title: "Control group", isMinor: true, isNumber: true, cell: ({ counts }) => number(counts.held_out) },
        { title: "When", cell: ({ created_at, scheduled_at }) => <Time at={scheduled_at ?? created_at} /> },
      ]}
      add={{ operation: "notifications.create", label: "Send a message", icon: "send", by: pathTo("send") }}
    />
  );
}
