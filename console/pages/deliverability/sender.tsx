// What a sender is judged by: the domain of each channel of emails, as DNS and the provider have it, and the suppressed addresses.
import type { Channel } from "../../../sdk/src/types.gen.ts";
import { suppressionReasons } from "../../../shared/rules/addresses.ts";
import { useQuery } from "../../app/query.ts";
import { pathTo } from "../../app/router.ts";
import { SUPPRESSED } from "../../app/sentences.ts";
import { number, share } from "../../app/time.ts";
import { LinkButton } from "../../components/button.tsx";
import { Card } from "../../components/page.tsx";
import { SendingDomain } from "../../components/sending-domain.tsx";
import { Empty, Loaded, Skeleton } from "../../components/states.tsx";
import { Table } from "../../components/table.tsx";

export function Domains() {
  const channels = useQuery("channels.list", []);
  return (
    <div class="stack">
      <Loaded query={channels} skeleton={<Skeleton rows={5} />}>
        {({ channels: all }) => {
          const mails = all.filter(({ type }) => type === "email");
          if (mails.length > 0) return mails.map((channel) => <Domain key={channel.id} channel={channel} />);
          return (
            <Empty
              title="No channel sends emails yet."
              action={<LinkButton href={pathTo("channels")}>Connect a channel</LinkButton>}
            />
          );
        }}
      </Loaded>
    </div>
  );
}

function Domain({ channel: { id, name, settings } }: { channel: Channel }) {
  const health = useQuery("channels.getHealth", [id]);
  return (
    <>
      <Loaded query={health} skeleton={<Skeleton rows={5} />}>
        {({ domain }) =>
          domain ? (
            <SendingDomain channel={id} health={health} />
          ) : (
            <Card title={name}>
              <p>Its domain is looked up when its credentials are verified.</p>
            </Card>
          )
        }
      </Loaded>
      <p class="hint">
        Sent by <a href={pathTo("channels", id)}>{name}</a>.
        {settings?.provider === "smtp" && " A mail server reports neither bounces nor complaints."}
      </p>
    </>
  );
}

/** As many as one page of the list has. */
const NEWEST = 100;

export function Suppressed() {
  const newest = useQuery("suppressions.list", [{ limit: NEWEST }]);
  return (
    <Card title="Suppressed addresses" flush>
      <Loaded query={newest} skeleton={<Skeleton rows={4} />}>
        {({ items, next_cursor }) => {
          const rows = suppressionReasons
            .map((reason) => ({ reason, n: items.filter((one) => one.reason === reason).length }))
            .filter(({ n }) => n > 0);
          if (rows.length === 0) return <p class="inset">No address is suppressed.</p>;
          return (
            <>
              <Table
                caption="Suppressed addresses"
                rows={rows}
                keyOf={({ reason }) => reason}
                hrefOf={({ reason }) => pathTo("suppressions", "", { reason })}
                columns={[
                  { title: "Reason", cell: ({ reason }) => SUPPRESSED[reason] },
                  { title: "Addresses", isNumber: true, cell: ({ n }) => number(n) },
                  { title: "Share", isNumber: true, cell: ({ n }) => share(n, items.length) },
                ]}
              />
              {next_cursor && <p class="hint inset">Of the {number(NEWEST)} newest.</p>}
            </>
          );
        }}
      </Loaded>
    </Card>
  );
}
