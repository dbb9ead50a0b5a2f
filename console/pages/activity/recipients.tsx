// The recipients of a send, by state and reason, and all of them as a file.
import type { RecipientsNotification } from "../../../sdk/src/types.gen.ts";
import { type RecipientState, recipientStates } from "../../../shared/rules/recipient-states.ts";
import { useAction } from "../../app/action.ts";
import { calledOf } from "../../app/person-name.ts";
import { go, pathTo, place } from "../../app/router.ts";
import { usePages } from "../../app/rows.ts";
import { channelName, reasonText } from "../../app/sentences.ts";
import { Badge } from "../../components/badge.tsx";
import { Act } from "../../components/button.tsx";
import { Collection } from "../../components/collection.tsx";
import { asOptions, inWords } from "../../components/field.tsx";
import { chosenOf, Filter } from "../../components/filters.tsx";
import { Dash, Time } from "../../components/page.tsx";

interface RecipientsProps {
  send: string;
  /** Those that the send counts, for the choice. */
  reasons: readonly string[];
}

/** `In-app, Email (bounced)`: each once, with its state where it is another one than that of the person. */
function channelsOf({ channel, channels, state }: RecipientsNotification): string {
  if (channels.length === 0) return channel ? channelName(channel) : "–";
  const words = channels.map(
    (one) => channelName(one.channel) + (one.state === state ? "" : ` (${inWords(one.state)})`),
  );
  return [...new Set(words)].join(", ");
}

export function Recipients({ send, reasons }: RecipientsProps) {
  const create = useAction("imports.createExport");
  const state = chosenOf<RecipientState>("state", recipientStates);
  const reason = place.value.query.get("reason") ?? "";
  const asked = { ...(state && { state }), ...(reason && { reason }) };
  const rows = usePages("recipients.list", [send, asked], ({ items }) => items);
  const known = [...new Set([...reasons, ...(reason ? [reason] : [])])];
  return (
    <Collection
      noun="recipient"
      card="Recipients"
      rows={rows}
      usual={6}
      csv="recipients"
      keyOf={({ subscriber_id, channel }) => `${subscriber_id}${channel}`}
      hrefOf={({ subscriber_id }) => pathTo("activity", send, { ...asked, person: subscriber_id ?? undefined })}
      filters={
        <>
          <Filter
            small
            name="state"
            label="State"
            options={[{ value: "", label: "All states" }, ...asOptions(recipientStates)]}
          />
          {known.length > 0 && (
            <Filter
              small
              name="reason"
              label="Reason"
              options={[
                { value: "", label: "All reasons" },
                ...known.map((one) => ({ value: one, label: reasonText(one) })),
              ]}
            />
          )}
          <Act
            kind="quiet"
            icon="export"
            action={create}
            given={[{ kind: "recipients", filter: { notification_id: send } }]}
            said="The export of all recipients has begun."
            then={() => go(pathTo("exports"))}
          >
            Export all
          </Act>
        </>
      }
      empty={{ title: state || reason ? "No recipient is in this state." : undefined }}
      columns={[
        { title: "Person", cell: calledOf },
        { title: "State", cell: (recipient) => <Badge state={recipient.state} /> },
        { title: "Channels", isMinor: true, cell: channelsOf },
        {
          title: "Why",
          has: ({ reason: why }) => Boolean(why),
          cell: ({ reason: why }) => (why ? reasonText(why) : <Dash />),
        },
        { title: "When", cell: ({ at }) => <Time at={at} /> },
      ]}
    />
  );
}
