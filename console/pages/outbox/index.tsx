// The outbox of a local service: what providers were given, as a mailbox or a phone shows it.
import { useState } from "preact/hooks";
import { providedChannels } from "../../../shared/rules/channel-types.ts";
import { useLocal, useLocalCall } from "../../app/local.ts";
import { htmlOfSource, ofEncodedWords } from "../../app/mail-source.ts";
import { opensOf } from "../../app/push-source.ts";
import { useQuery } from "../../app/query.ts";
import { pathTo, place, setQuery } from "../../app/router.ts";
import { channelName } from "../../app/sentences.ts";
import { Button } from "../../components/button.tsx";
import { SelectField } from "../../components/field.tsx";
import { Address, Card, Code, Page, Time } from "../../components/page.tsx";
import { Opens } from "../../components/rendered.tsx";
import { SeenAs } from "../../components/seen.tsx";
import { Empty, Skeleton } from "../../components/states.tsx";
import { Table } from "../../components/table.tsx";

const EVERY_MS = 3_000;
const PAGE = 50;
const MAX = 1_000;
const channels = providedChannels.map((value) => ({ value, label: channelName(value) }));

interface Item {
  id: string;
  channel: string;
  to: string;
  subscriber_id: string | null;
  job_id: string | null;
  title: string | null;
  body: string | null;
  payload: unknown;
  headers?: Record<string, string>;
  at: string;
}

export function View() {
  const channel = place.value.query.get("channel") ?? "";
  const [limit, setLimit] = useState(PAGE);
  const filter = new URLSearchParams({ order: "newest", limit: String(limit), ...(channel && { channel }) });
  const found = useLocal<{ items: Item[] }>(`outbox?${filter}`, EVERY_MS);
  const clear = useLocalCall();
  const items = found.data?.items ?? [];
  const [id = items[0]?.id] = place.value.parts;
  const item = items.find((one) => one.id === id);
  const error = found.error ?? clear.error;
  const empty = async () => {
    const done = await clear.run("outbox", undefined, "DELETE");
    if (done) found.refresh();
  };
  return (
    <Page
      title="Outbox"
      about="What providers received from this machine. Nothing leaves it."
      actions={
        <Button isBusy={clear.isBusy} onClick={() => void empty()}>
          Clear
        </Button>
      }
    >
      {error && (
        <p class="banner bad" role="alert">
          {error}
        </p>
      )}
      <div class="filters">
        <SelectField
          label="Channel"
          value={channel}
          options={[{ value: "", label: "All channels" }, ...channels]}
          onInput={(value) => setQuery({ channel: value })}
        />
      </div>
      {!found.data && !found.error && <Skeleton table rows={6} />}
      {found.data && items.length === 0 && (
        <Empty title="Nothing was sent yet.">Messages in the app have no provider: they are not here.</Empty>
      )}
      {items.length > 0 && (
        <div class="grid wide">
          <div class="stack">
            <Sent items={items} selected={id} query={channel ? { channel } : {}} />
            {items.length === limit && limit < MAX && (
              <div class="more">
                <Button onClick={() => setLimit(Math.min(MAX, limit * 4))}>Show more</Button>
              </div>
            )}
          </div>
          <div class="preview is-first">{item && <Shown key={item.id} item={item} />}</div>
        </div>
      )}
    </Page>
  );
}

interface SentProps {
  items: readonly Item[];
  selected: string | undefined;
  query: Record<string, string>;
}

const Sent = ({ items, selected, query }: SentProps) => (
  <Table
    caption="What providers received"
    rows={items}
    keyOf={({ id }) => id}
    hrefOf={({ id }) => pathTo("outbox", id, query)}
    selected={selected}
    columns={[
      { title: "To", cell: ({ to }) => <Address of={to} /> },
      { title: "Channel", isMinor: true, cell: ({ channel }) => channelName(channel) },
      { title: "Message", cell: ({ title, body }) => <div class="clip">{title ?? body}</div> },
      { title: "When", isMinor: true, cell: ({ at }) => <Time at={at} /> },
    ]}
  />
);

function Shown({ item: { channel, to, title, body, payload, headers, subscriber_id, job_id } }: { item: Item }) {
  // A mail to a member of the team names its account in both.
  const isOfAccount = subscriber_id === job_id;
  // It may be of another workspace of this machine.
  const person = useQuery("subscribers.get", [subscriber_id ?? ""], { when: subscriber_id !== null && !isOfAccount });
  const asSent = channel === "email" && typeof payload === "string" ? htmlOfSource(payload) : undefined;
  return (
    <Card title={`${channelName(channel)} to ${to}`}>
      <SeenAs
        channel={channel}
        title={title ?? ""}
        body={asSent ?? body ?? ""}
        from={headers?.From && ofEncodedWords(headers.From)}
        opens
      />
      {channel !== "email" && <Opens {...opensOf(payload)} />}
      <p class="actions">
        {person.data && <a href={pathTo("people", person.data.id)}>View person</a>}
        {person.data && job_id && <a href={pathTo("activity", job_id)}>View send</a>}
      </p>
      <details>
        <summary>Provider request</summary>
        <Code text={typeof payload === "string" ? payload : JSON.stringify(payload, null, 2)} />
      </details>
    </Card>
  );
}
