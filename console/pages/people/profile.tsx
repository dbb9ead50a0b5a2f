// One subscriber as a story: what happened and why, what waits, how to reach them, and what is known of them.
import type { SubscriberProfile } from "../../../sdk/src/types.gen.ts";
import { useAction } from "../../app/action.ts";
import { initialsOf, personName } from "../../app/person-name.ts";
import { useQuery } from "../../app/query.ts";
import { go, pathTo, place } from "../../app/router.ts";
import { channelName } from "../../app/sentences.ts";
import { fullTime } from "../../app/time.ts";
import { Badge } from "../../components/badge.tsx";
import { AskButton } from "../../components/dialog.tsx";
import { Menu } from "../../components/menu.tsx";
import { Card, Facts, Page, Time } from "../../components/page.tsx";
import { SeenAs } from "../../components/seen.tsx";
import { Failure, Loaded, Skeleton } from "../../components/states.tsx";
import { Table } from "../../components/table.tsx";
import { AskWhy } from "./ask-why.tsx";
import { Attributes } from "./attributes-card.tsx";
import { ConsentHistory } from "./consent-history.tsx";
import { Opt } from "./opt.tsx";
import { Erased, ExportPerson } from "./personal-data.tsx";
import { PreviewAs } from "./preview-as.tsx";
import { Reach } from "./reach.tsx";
import { Timeline, useTimelineAhead } from "./timeline.tsx";

const parts = { "": "Timeline", inbox: "Inbox", consents: "Consent history", devices: "Devices" } as const;
type Part = keyof typeof parts;

function shownPart(): Part {
  const given = place.value.parts[1] ?? "";
  return Object.hasOwn(parts, given) ? (given as Part) : "";
}

export function Profile({ id }: { id: string }) {
  const profile = useQuery("subscribers.get", [id]);
  const isGone = profile.error?.status === 404;
  useTimelineAhead(id, shownPart() === "" && !isGone);
  const data = isGone ? undefined : profile.data;
  const title = data ? personName(data) : "Person";
  return (
    <Page
      title={title}
      mark={data && <Avatar name={title} />}
      back={{ href: pathTo("people"), label: "People" }}
      about={data && <About profile={data} title={title} />}
      actions={
        data && (
          <>
            <ExportPerson profile={data} />
            <Menu>
              <PreviewAs profile={data} />
              <Erase profile={data} />
            </Menu>
          </>
        )
      }
    >
      {isGone ? (
        <Erased id={id} />
      ) : (
        <Loaded query={profile} skeleton={<Skeleton rows={8} />}>
          {(found) => (
            <div class="grid wide">
              <Story profile={found} />
              <div class="stack">
                <Reach profile={found} />
                <AskWhy profile={found} />
                <Attributes profile={found} />
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

const Avatar = ({ name }: { name: string }) => (
  <span class="avatar" aria-hidden="true">
    {initialsOf(name)}
  </span>
);

function About({ profile: { external_id, email, created_at }, title }: { profile: SubscriberProfile; title: string }) {
  return (
    <>
      {[...new Set([external_id, email])].flatMap((name) => (name && name !== title ? `${name}, ` : []))}added{" "}
      <Time at={created_at} />
    </>
  );
}

/** What happened, what is in the inbox, what was agreed to, and on what devices. */
function Story({ profile }: { profile: SubscriberProfile }) {
  const { id, devices } = profile;
  const shown = shownPart();
  return (
    <div class="stack">
      <nav class="tabs" aria-label="Parts of the person">
        {Object.entries(parts).map(([part, label]) => (
          <a
            key={part}
            href={pathTo("people", [id, part].filter(Boolean).join("/"))}
            aria-current={part === shown ? "page" : undefined}
          >
            {label}
            {part === "devices" && ` (${devices.length})`}
          </a>
        ))}
      </nav>
      {shown === "" && <Timeline id={id} />}
      {shown === "inbox" && <Inbox id={id} />}
      {shown === "consents" && <ConsentHistory id={id} />}
      {shown === "devices" && <Devices devices={devices} />}
    </div>
  );
}

function Erase({ profile }: { profile: SubscriberProfile }) {
  const { id } = profile;
  const name = personName(profile);
  return (
    <AskButton
      label="Erase"
      operation="subscribers.delete"
      given={[id]}
      title={`Erase ${name}?`}
      name={name}
      act="Erase permanently"
      said={`The erasure of ${name} has begun.`}
      then={() => go(pathTo("people", id))}
    >
      Profile, devices, consents and memberships are deleted. Reports keep their counts, without the person. A signed
      receipt says what was removed. This cannot be undone.
    </AskButton>
  );
}

function Memberships({ profile: { lists, segments } }: { profile: SubscriberProfile }) {
  return (
    <Card title="Lists and segments">
      <Facts
        of={[
          ["Lists", namesOf(lists, (id) => pathTo("content", `lists/${id}`))],
          ["Segments", namesOf(segments, (id) => pathTo("segments", id))],
        ]}
      />
    </Card>
  );
}

const namesOf = (items: SubscriberProfile["lists"], hrefOf: (id: string) => string) =>
  items.length === 0 ? (
    <span class="dim">None</span>
  ) : (
    <ul class="stack tight">
      {items.map(({ id, name, entered_at }) => (
        <li key={id}>
          <a href={hrefOf(id)}>{name}</a>{" "}
          <span class="dim">
            since <Time at={entered_at} />
          </span>
        </li>
      ))}
    </ul>
  );

const version = (parts: { major: number; minor: number; patch: number } | null): string =>
  parts ? [parts.major, parts.minor, parts.patch].join(".") : "";

function Devices({ devices }: { devices: SubscriberProfile["devices"] }) {
  return (
    <Card title="Where push arrives" flush>
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
            { title: "Language", cell: ({ locale }) => locale ?? "–" },
            { title: "Time zone", cell: ({ timezone }) => timezone ?? "–" },
            { title: "Last seen", cell: ({ last_seen_at }) => <Time at={last_seen_at} /> },
          ]}
        />
      )}
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

const MAX_MESSAGES = 50;

/** The inbox of a person in the app, as it is there now. */
function Inbox({ id }: { id: string }) {
  const inbox = useQuery("inbox.listMessages", [{ subscriber_id: id, limit: MAX_MESSAGES }]);
  return (
    <Card title="What the app shows">
      <Loaded query={inbox} skeleton={<Skeleton rows={4} />}>
        {({ messages }) => (
          <>
            {messages.length === 0 && <p class="dim">The inbox is empty. Messages stay there for 30 days.</p>}
            <ol class="stack">
              {messages.map(({ id: key, notification_id, content, status, created_at, read_at }) => (
                <li key={key} class="stack tight">
                  <p>
                    <Badge state={status} />{" "}
                    <span class="dim">
                      {fullTime(created_at)}
                      {read_at && `, read ${fullTime(read_at)}`}
                    </span>{" "}
                    <a href={pathTo("activity", notification_id, { person: id })}>View send</a>
                  </p>
                  <SeenAs channel="in_app" title={content.title} body={content.body} />
                </li>
              ))}
            </ol>
          </>
        )}
      </Loaded>
    </Card>
  );
}
