// Who got a send, and who did not: recipients by state, each with its reason.
import { useState } from "preact/hooks";
import type { RecipientsListAnswer, RecipientsListQuery } from "../../../sdk/src/types.gen.ts";
import type { ArgumentsOf } from "../../app/api.ts";
import { usePages } from "../../app/pages-of.ts";
import { pathTo } from "../../app/router.ts";
import { channelName, reasonText } from "../../app/sentences.ts";
import { Badge } from "../../components/badge.tsx";
import { Card, Time } from "../../components/page.tsx";
import { Failure, Loaded, Skeleton } from "../../components/states.tsx";
import { More, Table } from "../../components/table.tsx";

type Row = RecipientsListAnswer["items"][number];
const STATES = [
  "delivered",
  "failed",
  "uncertain",
  "bounced",
  "skipped",
  "held_out",
  "deferred",
  "pending",
  "canceled",
] as const;

export function Recipients({ send }: { send: string }) {
  const [state, setState] = useState("");
  const recipients = usePages(
    "recipients.list",
    (cursor): ArgumentsOf<"recipients.list"> => [
      send,
      { ...(state && { state: state as NonNullable<RecipientsListQuery["state"]> }), ...(cursor && { cursor }) },
    ],
  );
  const rows = recipients.pages.flatMap((page) => page.items);
  const cursor = recipients.pages.at(-1)?.next_cursor ?? "";
  return (
    <Card
      title="Recipients"
      flush
      actions={
        <select class="small" aria-label="State" value={state} onInput={(event) => setState(event.currentTarget.value)}>
          <option value="">All states</option>
          {STATES.map((one) => (
            <option key={one} value={one}>
              {one.replace("_", " ")}
            </option>
          ))}
        </select>
      }
    >
      <Loaded query={recipients.first} skeleton={<Skeleton rows={6} />}>
        {() =>
          rows.length === 0 ? (
            <p class="dim inset">{cursor ? "None so far; there is more to read." : "No recipient is in this state."}</p>
          ) : (
            <Table
              caption="Recipients"
              rows={rows}
              keyOf={({ subscriber_id, channel }) => `${subscriber_id}${channel}`}
              hrefOf={({ subscriber_id }) => pathTo("activity", send, { person: subscriber_id ?? undefined })}
              columns={[
                { title: "Person", cell: ({ external_id }: Row) => external_id ?? "erased" },
                { title: "State", cell: (row: Row) => <Badge state={row.state} /> },
                { title: "Channel", cell: ({ channel }: Row) => (channel ? channelName(channel) : "–") },
                { title: "Why", cell: ({ reason }: Row) => (reason ? reasonText(reason) : <span class="dim">–</span>) },
                { title: "When", cell: ({ at }: Row) => <Time at={at} /> },
              ]}
            />
          )
        }
      </Loaded>
      {recipients.error && <Failure error={recipients.error} />}
      {cursor && (
        <div class="inset">
          <More cursor={cursor} isLoading={recipients.isLoading} load={recipients.load} />
        </div>
      )}
    </Card>
  );
}
