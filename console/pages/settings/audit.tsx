// The audit trail: who changed what, and the proof that the record is whole.
import { useState } from "preact/hooks";
import { ServiceError } from "../../../sdk/src/errors.ts";
import type { AuditEntry, AuditVerdict } from "../../../sdk/src/types.gen.ts";
import { type ArgumentsOf, call } from "../../app/api.ts";
import { usePages } from "../../app/pages-of.ts";
import { useQuery } from "../../app/query.ts";
import { pathTo, place, setQuery } from "../../app/router.ts";
import { number } from "../../app/time.ts";
import { Badge } from "../../components/badge.tsx";
import { Button } from "../../components/button.tsx";
import { Card, Time } from "../../components/page.tsx";
import { Empty, Failure, Loaded, Skeleton } from "../../components/states.tsx";
import { More, Table } from "../../components/table.tsx";

/** Operations that people look for, by the first word of their names. */
const AREAS = [
  "account",
  "billing",
  "campaigns",
  "channels",
  "experiences",
  "imports",
  "journeys",
  "lists",
  "notifications",
  "schedules",
  "segments",
  "subscribers",
  "team",
  "templates",
  "topics",
  "webhooks",
];

const STATES: Record<AuditEntry["outcome"], string> = {
  ok: "success",
  refused: "skipped",
  failed: "failed",
  unknown: "pending",
};

/** The page of what an operation changed, by the first word of its name. */
const PAGES: Partial<Record<string, string>> = {
  campaigns: "campaigns",
  channels: "channels",
  journeys: "journeys",
  notifications: "activity",
  segments: "segments",
  subscribers: "people",
  webhooks: "webhooks",
};

/** `channels.emailCredentials` is "Channels: email credentials". */
function wordsOf(action: string): string {
  const words = action.replace(".", ": ").replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
  return words.charAt(0).toUpperCase() + words.slice(1);
}

function Changed({ entry: { action, target } }: { entry: AuditEntry }) {
  if (target === null) return <span class="dim">–</span>;
  const [group = "", verb = ""] = action.split(".");
  const page = PAGES[group];
  const name = <code title={target}>{target.slice(0, 8)}</code>;
  return page && !/delete/i.test(verb) ? <a href={pathTo(page, target)}>{name}</a> : name;
}

export function Audit() {
  const { query } = place.value;
  const actor = query.get("actor") ?? "";
  const action = query.get("action") ?? "";
  const members = useQuery("team.listMembers", []).data?.items ?? [];
  const trail = usePages(
    "audit.get",
    (cursor): ArgumentsOf<"audit.get"> => [
      { ...(actor && { actor }), ...(action && { action }), ...(cursor && { cursor }) },
    ],
  );
  const items = trail.pages.flatMap((page) => page.items);
  const nameOf = (entry: AuditEntry) =>
    members.find(({ user_id }) => user_id === entry.actor.id)?.name ??
    `${entry.actor.type.replaceAll("_", " ")} ${entry.actor.id.slice(0, 8)}`;
  return (
    <>
      <Verify />
      <div class="filters">
        <select
          aria-label="Who"
          value={actor}
          onInput={(event) => setQuery({ actor: event.currentTarget.value || undefined })}
        >
          <option value="">Everyone</option>
          {members.map(({ user_id, name }) => (
            <option key={user_id} value={user_id}>
              {name}
            </option>
          ))}
        </select>
        <select
          aria-label="What"
          value={action}
          onInput={(event) => setQuery({ action: event.currentTarget.value || undefined })}
        >
          <option value="">Everything</option>
          {AREAS.map((one) => (
            <option key={one} value={one}>
              {wordsOf(one)}
            </option>
          ))}
        </select>
      </div>
      <Loaded query={trail.first} skeleton={<Skeleton table rows={8} />}>
        {() =>
          items.length === 0 ? (
            <Empty title="Nothing was changed yet.">What users and keys change is listed here.</Empty>
          ) : (
            <>
              <Table
                caption="Audit trail"
                rows={items}
                keyOf={({ id }) => id}
                columns={[
                  { title: "When", cell: ({ at }: AuditEntry) => <Time at={at} /> },
                  { title: "Who", cell: (entry: AuditEntry) => nameOf(entry) },
                  { title: "What", cell: ({ action }: AuditEntry) => <span title={action}>{wordsOf(action)}</span> },
                  { title: "Of", cell: (entry: AuditEntry) => <Changed entry={entry} /> },
                  {
                    title: "Outcome",
                    cell: ({ outcome, code }: AuditEntry) => (
                      <>
                        <Badge state={STATES[outcome]} word={outcome} /> {code && <span class="dim">{code}</span>}
                      </>
                    ),
                  },
                  { title: "From", cell: ({ ip }: AuditEntry) => <span class="dim">{ip ?? "–"}</span> },
                ]}
              />
              {trail.error && <Failure error={trail.error} />}
              <More cursor={trail.pages.at(-1)?.next_cursor ?? ""} isLoading={trail.isLoading} load={trail.load} />
            </>
          )
        }
      </Loaded>
    </>
  );
}

function Verify() {
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<ServiceError>();
  const [found, setFound] = useState<Pick<AuditVerdict, "verified" | "broken">>();
  const verify = async () => {
    setBusy(true);
    setError(undefined);
    try {
      let verified = 0;
      for (let cursor = ""; ; ) {
        const page = await call("audit.verify", [cursor ? { cursor } : {}]);
        verified += page.verified;
        cursor = page.next_cursor;
        if (cursor) continue;
        setFound({ verified, broken: page.broken });
        return;
      }
    } catch (cause) {
      if (!(cause instanceof ServiceError)) throw cause;
      setError(cause);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Card
      title="Is the record whole?"
      actions={
        <Button icon="shield" needs="audit.verify" isBusy={isBusy} onClick={() => void verify()}>
          Verify
        </Button>
      }
    >
      {error && <Failure error={error} />}
      {!found && (
        <p class="dim">Each entry proves the one before it. Verifying finds the first that was changed or removed.</p>
      )}
      {found && !found.broken && (
        <p>
          <Badge state="verified" word="whole" /> {number(found.verified)} entries are as they were written.
        </p>
      )}
      {found?.broken && (
        <p>
          <Badge state="failed" word="broken" /> Entry {found.broken.id}: {found.broken.reason.replaceAll("_", " ")}.
        </p>
      )}
    </Card>
  );
}
