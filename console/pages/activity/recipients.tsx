// Who got a send, and who did not: recipients by state, each with its reason.
import { useState } from "preact/hooks";
import { type RecipientState, recipientStates } from "../../../shared/rules/recipient-states.ts";
import { pathTo } from "../../app/router.ts";
import { usePages } from "../../app/rows.ts";
import { channelName, reasonText } from "../../app/sentences.ts";
import { Badge } from "../../components/badge.tsx";
import { Collection } from "../../components/collection.tsx";
import { asOptions, Select } from "../../components/field.tsx";
import { Time } from "../../components/page.tsx";

export function Recipients({ send }: { send: string }) {
  const [state, setState] = useState<RecipientState | "">("");
  const rows = usePages("recipients.list", [send, { ...(state && { state }) }], ({ items }) => items);
  return (
    <Collection
      noun="recipient"
      card="Recipients"
      rows={rows}
      usual={6}
      keyOf={({ subscriber_id, channel }) => `${subscriber_id}${channel}`}
      hrefOf={({ subscriber_id }) => pathTo("activity", send, { person: subscriber_id ?? undefined })}
      filters={
        <Select
          class="small"
          label="State"
          value={state}
          options={[{ value: "", label: "All states" }, ...asOptions(recipientStates)]}
          onInput={setState}
        />
      }
      empty={{ title: rows.more.cursor ? "None so far; there is more to read." : "No recipient is in this state." }}
      columns={[
        { title: "Person", cell: ({ external_id }) => external_id ?? "erased" },
        { title: "State", cell: (recipient) => <Badge state={recipient.state} /> },
        { title: "Channel", cell: ({ channel }) => (channel ? channelName(channel) : "–") },
        { title: "Why", cell: ({ reason }) => (reason ? reasonText(reason) : <span class="dim">–</span>) },
        { title: "When", cell: ({ at }) => <Time at={at} /> },
      ]}
    />
  );
}
