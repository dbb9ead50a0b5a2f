// What a person agreed to and when, with what proves it, newest first.
import type { SubscribersSubscriber } from "../../../sdk/src/types.gen.ts";
import { pathTo } from "../../app/router.ts";
import { usePages } from "../../app/rows.ts";
import { channelName } from "../../app/sentences.ts";
import { fullTime } from "../../app/time.ts";
import { Badge } from "../../components/badge.tsx";
import { Card, Dash } from "../../components/page.tsx";
import { Failure, Loaded, Skeleton } from "../../components/states.tsx";
import { More, Table } from "../../components/table.tsx";

export function ConsentHistory({ id }: { id: string }) {
  const { first, items, more } = usePages("subscribers.listConsents", [id, {}], (page) => page.items);
  return (
    <Card title="What was agreed to" flush>
      <Loaded query={first} skeleton={<Skeleton table rows={4} />}>
        {() =>
          items.length === 0 ? (
            <p class="dim inset">There is no answer yet: the workspace's rule decides.</p>
          ) : (
            <Table
              caption="Consent history"
              csv="consents"
              rows={items}
              keyOf={(one) => one.id}
              columns={[
                { title: "Channel", cell: ({ channel }) => channelName(channel) },
                { title: "Answer", cell: ({ status }) => <Badge state={status} /> },
                { title: "Given", isWord: true, cell: ({ consented_at }) => fullTime(consented_at) },
                { title: "Recorded", isMinor: true, cell: ({ recorded_at }) => fullTime(recorded_at) },
                { title: "Source", isMinor: true, cell: ({ source }) => source ?? <Dash /> },
                { title: "Proof", cell: (one) => <Proof of={one} /> },
              ]}
            />
          )
        }
      </Loaded>
      {first.data?.lifted.map(({ kind, lifted_at, reason }) => (
        <p class="dim inset" key={kind}>
          Suppression of the {kind} lifted {fullTime(lifted_at)}
          {reason && `: ${reason}`}
        </p>
      ))}
      {more?.error && <Failure error={more.error} />}
      {more && <More {...more} />}
    </Card>
  );
}

function Proof({ of: { express, evidence } }: { of: SubscribersSubscriber }) {
  const { text, ip, import_job_id } = evidence;
  const proofs = [
    express && "Given expressly",
    text && `“${text}”`,
    ip && `from ${ip}`,
    import_job_id && (
      <>
        by <a href={pathTo("import", import_job_id)}>an import</a>
      </>
    ),
  ].filter(Boolean);
  return proofs.length > 0 ? proofs.flatMap((proof, n) => (n > 0 ? [", ", proof] : [proof])) : <Dash />;
}
