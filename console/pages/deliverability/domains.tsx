// The domain of each channel that sends emails, as DNS and the provider have it.
import type { Channel } from "../../../sdk/src/types.gen.ts";
import { useQuery } from "../../app/query.ts";
import { pathTo } from "../../app/router.ts";
import { LinkButton } from "../../components/button.tsx";
import { Card } from "../../components/page.tsx";
import { SendingDomain } from "../../components/sending-domain.tsx";
import { Empty, Loaded, Skeleton } from "../../components/states.tsx";

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
