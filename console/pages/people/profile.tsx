// One subscriber: attributes, consents, devices, lists, segments, messages; and their erasure.
import { useState } from "preact/hooks";
import type { SubscriberProfile } from "../../../sdk/src/types.gen.ts";
import { useAction } from "../../app/action.ts";
import { useQuery } from "../../app/query.ts";
import { go, pathTo } from "../../app/router.ts";
import { channelName } from "../../app/sentences.ts";
import { say } from "../../app/toast.ts";
import { Badge } from "../../components/badge.tsx";
import { Button } from "../../components/button.tsx";
import { Form } from "../../components/form.tsx";
import { Card, Confirm, Page, Time } from "../../components/page.tsx";
import { Empty, Failure, Loaded, Skeleton } from "../../components/states.tsx";
import { Table } from "../../components/table.tsx";
import { attributeText, attributeValue, readAttributes } from "./attributes.ts";
import { Memberships } from "./memberships.tsx";
import { Timeline } from "./timeline.tsx";

export function Profile({ id }: { id: string }) {
  const profile = useQuery("subscribers.get", [id]);
  const erase = useAction("subscribers.delete", { stale: ["subscribers."] });
  const [isAsking, setAsking] = useState(false);
  const { data } = profile;
  const isGone = !data && profile.error?.status === 404;
  return (
    <Page
      title={data?.external_id ?? "Person"}
      back={{ href: pathTo("people"), label: "People" }}
      about={data?.email}
      actions={
        data && (
          <Button kind="danger" needs="subscribers.delete" onClick={() => setAsking(true)}>
            Erase
          </Button>
        )
      }
    >
      {erase.error && <Failure error={erase.error} />}
      {isGone ? (
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
      {isAsking && data && (
        <Confirm
          title={`Erase ${data.external_id}?`}
          name={data.external_id}
          act="Erase permanently"
          isBusy={erase.isBusy}
          close={() => setAsking(false)}
          onConfirm={async () => {
            const done = await erase.run(id);
            setAsking(false);
            if (!done) return;
            say(`${data.external_id} is erased.`);
            go(pathTo("people"));
          }}
        >
          Profile, devices, consents and memberships are deleted. Reports keep their counts, without the person. This
          cannot be undone.
        </Confirm>
      )}
    </Page>
  );
}

function Attributes({ profile }: { profile: SubscriberProfile }) {
  const update = useAction("subscribers.update", { stale: ["subscribers."] });
  const [rows, setRows] = useState<[string, string][]>();
  const known = Object.entries(readAttributes(profile.attributes));
  const save = async () => {
    const attributes = Object.fromEntries(
      (rows ?? []).filter(([key]) => key).map(([key, text]) => [key, attributeValue(text)]),
    );
    const removed = known.filter(([key]) => !Object.hasOwn(attributes, key)).map(([key]) => [key, null]);
    const done = await update.run(profile.id, { attributes: { ...attributes, ...Object.fromEntries(removed) } });
    if (!done) return;
    setRows(undefined);
    say("The attributes are saved.");
  };
  const set = (at: number, part: Partial<[string, string]>) =>
    setRows(rows?.map((row, n) => (n === at ? [part[0] ?? row[0], part[1] ?? row[1]] : row)));
  return (
    <Card
      title="Attributes"
      actions={
        !rows && (
          <Button
            kind="quiet"
            icon="pencil"
            needs="subscribers.update"
            onClick={() => setRows(known.map(([key, value]) => [key, attributeText(value)]))}
          >
            Edit
          </Button>
        )
      }
    >
      {!rows && known.length === 0 && <p class="dim">None yet.</p>}
      {!rows && known.length > 0 && (
        <dl class="facts">
          {known.map(([key, value]) => [
            <dt key={key}>{key}</dt>,
            <dd key={`${key}-value`}>{attributeText(value)}</dd>,
          ])}
        </dl>
      )}
      {rows && (
        <Form
          onSubmit={() => {
            void save();
          }}
        >
          {rows.map(([key, text], at) => (
            <div key={at} class="pair">
              <input
                aria-label={`Name of attribute ${at + 1}`}
                value={key}
                onInput={(event) => set(at, [event.currentTarget.value])}
              />
              <input
                aria-label={`Value of ${key || `attribute ${at + 1}`}`}
                value={text}
                onInput={(event) => set(at, [undefined as never, event.currentTarget.value])}
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
            <Button kind="quiet" onClick={() => setRows(undefined)}>
              Cancel
            </Button>
          </div>
        </Form>
      )}
    </Card>
  );
}

const CONSENT_CHANNELS = ["email", "sms", "chat_app"] as const;

function Consents({ profile }: { profile: SubscriberProfile }) {
  const create = useAction("subscribers.createConsent", { stale: ["subscribers."] });
  const record = async (channel: (typeof CONSENT_CHANNELS)[number], status: "opted_in" | "opted_out") => {
    const done = await create.run(profile.id, { channel, status, source: "console" });
    if (done) say(`${channelName(channel)}: ${status.replace("_", " ")}.`);
  };
  return (
    <Card title="Consents">
      <ul class="stack tight">
        {CONSENT_CHANNELS.map((channel) => {
          const found = profile.consents.find((one) => one.channel === channel);
          const isIn = found?.status === "opted_in";
          return (
            <li key={channel} class="usage">
              <span>
                {channelName(channel)} <Badge state={found?.status ?? "unknown"} />{" "}
                {found && (
                  <span class="dim">
                    <Time at={found.consented_at} />
                  </span>
                )}
              </span>
              <Button
                kind="quiet"
                label={`${isIn ? "Opt out of" : "Opt in to"} ${channelName(channel)}`}
                needs="subscribers.createConsent"
                isBusy={create.isBusy}
                onClick={() => void record(channel, isIn ? "opted_out" : "opted_in")}
              >
                {isIn ? "Opt out" : "Opt in"}
              </Button>
            </li>
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
  const choose = async (key: string, name: string, status: "opted_in" | "opted_out") => {
    if (await set.run({ subscriber_id: id, topics: { [key]: status } })) say(`${name}: ${status.replace("_", " ")}.`);
  };
  return (
    <Card title="Topics">
      <ul class="stack tight">
        {topics.map(({ key, name, status, consented_at }) => {
          const isIn = status === "opted_in";
          return (
            <li key={key} class="usage">
              <span>
                {name} <Badge state={status} />{" "}
                <span class="dim">{consented_at ? <Time at={consented_at} /> : "by default"}</span>
              </span>
              <Button
                kind="quiet"
                label={`${isIn ? "Opt out of" : "Opt in to"} ${name}`}
                needs="preferences.set"
                isBusy={set.isBusy}
                onClick={() => void choose(key, name, isIn ? "opted_out" : "opted_in")}
              >
                {isIn ? "Opt out" : "Opt in"}
              </Button>
            </li>
          );
        })}
      </ul>
      {set.error && <Failure error={set.error} />}
    </Card>
  );
}

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
