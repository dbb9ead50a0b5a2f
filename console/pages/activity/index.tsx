// Activity: what goes out now and what went out; one send with its counts; why one person did or did not get it.
import type { Notification } from "../../../sdk/src/types.gen.ts";
import type { ArgumentsOf } from "../../app/api.ts";
import { usePages } from "../../app/pages-of.ts";
import { pathTo, place, setQuery } from "../../app/router.ts";
import { me } from "../../app/session.ts";
import { number } from "../../app/time.ts";
import { Badge, stateOf } from "../../components/badge.tsx";
import { LinkButton } from "../../components/button.tsx";
import { Page, Time } from "../../components/page.tsx";
import { Empty, Failure, Loaded, Skeleton } from "../../components/states.tsx";
import { More, Table } from "../../components/table.tsx";
import { Send } from "./send.tsx";

const EVERY_MS = 5_000;
const STATUSES = ["scheduled", "queued", "processing", "completed", "failed", "canceled"] as const;
type Status = (typeof STATUSES)[number];

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

export const sourceName = (type: string): string => SOURCES[type] ?? type;

function Sends() {
  const { query } = place.value;
  const status = STATUSES.find((one) => one === query.get("status"));
  const withJourneys = query.get("journeys") === "1";
  const sends = usePages(
    "notifications.list",
    (cursor): ArgumentsOf<"notifications.list"> => [
      {
        limit: 50,
        ...(status && { status: status as Status }),
        ...(!withJourneys && { exclude_source_type: "journey" }),
        ...(cursor && { cursor }),
      },
    ],
    { every: EVERY_MS },
  );
  const items = sends.pages.flatMap((page) => page.items);
  return (
    <Page
      title="Activity"
      about="Every send, the newest first. Open one to see who got it, and why someone did not."
      actions={
        <LinkButton kind="primary" icon="send" href={pathTo("send")} needs="notifications.create">
          Send a message
        </LinkButton>
      }
    >
      <div class="filters">
        <select
          aria-label="Status"
          value={status ?? ""}
          onInput={(event) => setQuery({ status: event.currentTarget.value || undefined })}
        >
          <option value="">All statuses</option>
          {STATUSES.map((one) => (
            <option key={one} value={one}>
              {one}
            </option>
          ))}
        </select>
        <label class="check">
          <input
            type="checkbox"
            checked={withJourneys}
            onInput={(event) => setQuery({ journeys: event.currentTarget.checked ? "1" : undefined })}
          />
          With messages of journeys
        </label>
      </div>
      <Loaded query={sends.first} skeleton={<Skeleton table rows={8} />}>
        {() =>
          items.length === 0 ? (
            <Empty
              title={`Nothing in ${me.value?.tenant.name ?? "this workspace"}${status ? ` is ${status}` : " was sent yet"}.`}
              action={<a href={pathTo("send")}>Write a message</a>}
            >
              {withJourneys ? "" : "Messages of journeys are not shown here unless you ask for them."}
            </Empty>
          ) : (
            <>
              <Table
                caption="Sends"
                rows={items}
                keyOf={({ id }) => id}
                hrefOf={({ id }) => pathTo("activity", id)}
                columns={COLUMNS}
              />
              {sends.error && <Failure error={sends.error} />}
              <More cursor={sends.pages.at(-1)?.next_cursor ?? ""} isLoading={sends.isLoading} load={sends.load} />
            </>
          )
        }
      </Loaded>
    </Page>
  );
}

const COLUMNS = [
  { title: "Message", cell: (row: Notification) => <span class="clip">{row.name ?? row.title ?? "Template"}</span> },
  { title: "Status", cell: (send: Notification) => <Badge state={stateOf(send)} /> },
  { title: "Source", cell: ({ source }: Notification) => <span class="dim">{sourceName(source.type)}</span> },
  { title: "People", isNumber: true, cell: ({ counts }: Notification) => number(counts.total) },
  { title: "Delivered", isNumber: true, cell: ({ counts }: Notification) => number(counts.delivered) },
  { title: "Failed", isNumber: true, cell: ({ counts }: Notification) => number(counts.failed) },
  { title: "Skipped", isNumber: true, cell: ({ counts }: Notification) => number(counts.skipped) },
  { title: "When", cell: ({ created_at, scheduled_at }: Notification) => <Time at={scheduled_at ?? created_at} /> },
];
