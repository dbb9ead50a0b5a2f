// One subscriber: attributes, consents, devices, lists, segments, messages; and their erasure.
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { SubscriberProfile } from "../../../sdk/src/types.gen.ts";
import { consentChannels } from "../../../shared/rules/channel-types.ts";
import { type Running, useAction } from "../../app/action.ts";
import { useQuery } from "../../app/query.ts";
import { go, pathTo } from "../../app/router.ts";
import { channelName } from "../../app/sentences.ts";
import { say } from "../../app/toast.ts";
import { Badge } from "../../components/badge.tsx";
import { Button } from "../../components/button.tsx";
import { AskButton } from "../../components/dialog.tsx";
import { inWords } from "../../components/field.tsx";
import { Form } from "../../components/form.tsx";
import { Card, Facts, Page, Time } from "../../components/page.tsx";
import { Empty, Failure, Loaded, Skeleton } from "../../components/states.tsx";
import { Table } from "../../components/table.tsx";
import { attributeText, attributeValue, readAttributes } from "./attributes.ts";
import { Timeline } from "./timeline.tsx";

export function Profile({ id }: { id: string }) {
  const profile = useQuery("subscribers.get", [id]);
  const { data } = profile;
  return (
    <Page
      title={data?.external_id ?? "Person"}
      back={{ href: pathTo("people"), label: "People" }}
      about={data?.email}
      actions={data && <Erase profile={data} />}
    >
      {!data && profile.error?.status === 404 ? (
        <Empty
          title="This person was erased, or was never in this workspace."
          action={<a href={pathTo("people")}>All people</a>}
        >
          Reports keep their counts, without the person.
        </Empty>
      ) : (
        <Loaded query={profile} skeleton={<Skeleton rows={8} />}>
          {(found) => (
            <div class="grid wide">
              <div class="stack">
                <Timeline id={id} />
                <Devices devices={found.devices} />
              </div>
              <div class="stack">
                <Attributes profile={found} />
                <Consents profile={found} />
                <Topics profile={found} />
                <Memberships profile={found} />
              </div>
            </div>
          )}
        </Loaded>
      )}
    </Page>
  );
}

function Erase({ profile: { id, external_id } }: { profile: SubscriberProfile }) {
  return (
    <AskButton
      label="Erase"
      operation="subscribers.delete"
      given={[id]}
      title={`Erase ${external_id}?`}
      name={external_id}
      act="Erase permanently"
      said={`${external_id} is erased.`}
      then={() => go(pathTo("people"))}
    >
      Profile, devices, consents and memberships are deleted. Reports keep their counts, without the person. This cannot
      be undone.
    </AskButton>
  );
}

function Attributes({ profile }: { profile: SubscriberProfile }) {
  const [isEditing, setEditing] = useState(false);
  const known = Object.entries(readAttributes(profile.attributes)).map(
    ([key, value]) => [key, attributeText(value)] as const,
  );
  return (
    <Card
      title="Attributes"
      actions={
        !isEditing && (
          <Button kind="quiet" icon="pencil" needs="subscribers.update" onClick={() => setEditing(true)}>
            Edit
          </Button>
        )
      }
    >
      {isEditing ? (
        <AttributesForm id={profile.id} known={known} close={() => setEditing(false)} />
      ) : known.length > 0 ? (
        <Facts of={known} />
      ) : (
        <p class="dim">None yet.</p>
      )}
    </Card>
  );
}

interface AttributesProps {
  id: string;
  known: readonly (readonly [key: string, text: string])[];
  close: () => void;
}

function AttributesForm({ id, known, close }: AttributesProps) {
  const update = useAction("subscribers.update");
  const [rows, setRows] = useState(known);
  const save = async () => {
    const attributes = Object.fromEntries(
      rows.filter(([key]) => key).map(([key, text]) => [key, attributeValue(text)]),
    );
    const removed = known.filter(([key]) => !Object.hasOwn(attributes, key)).map(([key]) => [key, null]);
    if (!(await update.run(id, { attributes: { ...attributes, ...Object.fromEntries(removed) } }))) return;
    close();
    say("The attributes are saved.");
  };
  const set = (at: number, row: readonly [string, string]) => setRows(rows.map((old, n) => (n === at ? row : old)));
  return (
    <Form onSubmit={save}>
      {rows.map(([key, text], at) => (
        <div key={at} class="pair">
          <input
            aria-label={`Name of attribute ${at + 1}`}
            value={key}
            onInput={(event) => set(at, [event.currentTarget.value, text])}
          />
          <input
            aria-label={`Value of ${key || `attribute ${at + 1}`}`}
            value={text}
            onInput={(event) => set(at, [key, event.currentTarget.value])}
          />
          <Button
            kind="quiet"
            icon="trash"
            label={`Remove ${key}`}
            onClick={() => setRows(rows.filter((_, n) => n !== at))}
          />
        </div>
      ))}
      {update.error && <Failure error={update.error} />}
      <div class="actions">
        <Button icon="plus" onClick={() => setRows([...rows, ["", ""]])}>
          Add
        </Button>
        <Button kind="primary" type="submit" isBusy={update.isBusy}>
          Save
        </Button>
        <Button kind="quiet" onClick={close}>
          Cancel
        </Button>
      </div>
    </Form>
  );
}

type Choice = "opted_in" | "opted_out";

interface OptProps {
  name: string;
  /** Undefined or another word: nothing was chosen. */
  status: string | undefined;
  since: ComponentChildren;
  action: Running;
  record: (choice: Choice) => Promise<unknown>;
}

/** What a person chose, and the other choice. */
function Opt({ name, status = "unknown", since, action, record }: OptProps) {
  const isIn = status === "opted_in";
  const choose = async () => {
    const other = isIn ? "opted_out" : "opted_in";
    if (await record(other)) say(`${name}: ${inWords(other)}.`);
  };
  return (
    <li class="usage">
      <span>
        {name} <Badge state={status} /> {since && <span class="dim">{since}</span>}
      </span>
      <Button
        kind="quiet"
        label={`${isIn ? "Opt out of" : "Opt in to"} ${name}`}
        needs={action.operation}
        isBusy={action.isBusy}
        onClick={() => void choose()}
      >
        {isIn ? "Opt out" : "Opt in"}
      </Button>
    </li>
  );
}

function Consents({ profile: { id, consents } }: { profile: SubscriberProfile }) {
  const create = useAction("subscribers.createConsent");
  return (
    <Card title="Consents">
      <ul class="stack tight">
        {consentChannels.map((channel) => {
          const found = consents.find((one) => one.channel === channel);
          return (
            <Opt
              key={channel}
              name={channelName(channel)}
              status={found?.status}
              since={found && <Time at={found.consented_at} />}
              action={create}
              record={(status) => create.run(id, { channel, status, source: "console" })}
            />
          );
        })}
      </ul>
      {create.error && <Failure error={create.error} />}
      <p class="hint">Record only what the person told you. Each change stays in the history.</p>
    </Card>
  );
}

function Topics({ profile: { id, topics } }: { profile: SubscriberProfile }) {
  const set = useAction("preferences.set", { stale: ["subscribers."] });
  if (topics.length === 0) return null;
  return (
    <Card title="Topics">
      <ul class="stack tight">
        {topics.map(({ key, name, status, consented_at }) => (
          <Opt
            key={key}
            name={name}
            status={status}
            since={consented_at ? <Time at={consented_at} /> : "by default"}
            action={set}
            record={(choice) => set.run({ subscriber_id: id, topics: { [key]: choice } })}
          />
        ))}
      </ul>
      {set.error && <Failure error={set.error} />}
    </Card>
  );
}

function Memberships({ profile: { lists, segments } }: { profile: SubscriberProfile }) {
  return (
    <Card title="Lists and segments">
      <Facts
        of={[
          ["Lists", namesOf(lists, () => pathTo("content", "lists"))],
          ["Segments", namesOf(segments, (id) => pathTo("segments", id))],
        ]}
      />
    </Card>
  );
}

const namesOf = (items: readonly { id: string; name: string }[], hrefOf: (id: string) => string) =>
  items.length === 0 ? (
    <span class="dim">None</span>
  ) : (
    items.map(({ id, name }, n) => [
      n > 0 && ", ",
      <a key={id} href={hrefOf(id)}>
        {name}
      </a>,
    ])
  );

const version = (parts: { major: number; minor: number; patch: number } | null): string =>
  parts ? [parts.major, parts.minor, parts.patch].join(".") : "";

function Devices({ devices }: { devices: SubscriberProfile["devices"] }) {
  return (
    <Card title="Devices" flush>
      {devices.length === 0 ? (
        <p class="dim inset">There are no devices: push cannot reach this person.</p>
      ) : (
        <Table
          caption="Devices"
          rows={devices}
          keyOf={(device) => device.id}
          columns={[
            { title: "Device", cell: ({ platform, model }) => channelName(platform) + (model ? `, ${model}` : "") },
            {
              title: "Status",
              cell: ({ status, push_enabled }) => <Badge state={push_enabled ? status : "disabled"} />,
            },
            { title: "App", cell: ({ app_version }) => version(app_version) || "–" },
            { title: "Last seen", cell: ({ last_seen_at }) => <Time at={last_seen_at} /> },
          ]}
        />
      )}
    </Card>
  );
}
