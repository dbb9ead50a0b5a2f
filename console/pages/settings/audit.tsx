// The audit trail: who changed what, and the proof that the record is whole.
import { useState } from "preact/hooks";
import type { AuditEntry, AuditVerdict } from "../../../sdk/src/types.gen.ts";
import { inPlain } from "../../../shared/rules/placeholders.ts";
import { call } from "../../app/api.ts";
import { useBusy } from "../../app/busy.ts";
import { useQuery } from "../../app/query.ts";
import { pathTo, place } from "../../app/router.ts";
import { usePages } from "../../app/rows.ts";
import { momentText, number, plural } from "../../app/time.ts";
import { Badge } from "../../components/badge.tsx";
import { Button } from "../../components/button.tsx";
import { Collection } from "../../components/collection.tsx";
import { inWords } from "../../components/field.tsx";
import { Filter } from "../../components/filters.tsx";
import { Card, Time } from "../../components/page.tsx";
import { Failure } from "../../components/states.tsx";
import { groupOf, idOf, kinds, saidBy, textOf } from "./audit-sentences.ts";

/** What is said of a call that was not simply done. */
const outcomes: Record<Exclude<AuditEntry["outcome"], "ok">, { state: string; word: string }> = {
  refused: { state: "skipped", word: "refused" },
  failed: { state: "failed", word: "failed" },
  unknown: { state: "pending", word: "not known" },
};

/** Kinds of keys and what a key is called here. */
const actors: Record<AuditEntry["actor"]["type"], string> = {
  user: "A former member",
  server_key: "Server key",
  agent_key: "Agent key",
  publishable_key: "An app",
};

/** Of a workspace there is one publishable key: its id says nothing. */
const actorOf = ({ type, id }: AuditEntry["actor"]): string =>
  type === "publishable_key" ? actors[type] : `${actors[type]} ${shortId(id)}`;

const shortId = (id: string): string => (/^[0-9a-f]{8}-/.test(id) ? id.slice(0, 8) : id);

export function Audit() {
  const { query } = place.value;
  const actor = query.get("actor");
  const action = query.get("action");
  const members = useQuery("team.listMembers", []).data?.items ?? [];
  const rows = usePages("audit.get", [{ ...(actor && { actor }), ...(action && { action }) }], ({ items }) => items);
  const memberOf = (id: string) => members.find(({ user_id }) => user_id === id)?.name;
  const nameOf = (entry: AuditEntry) => (entry.subject?.name ? inPlain(entry.subject.name) : memberOf(idOf(entry)));
  const sentenceOf = (entry: AuditEntry) => (
    <Sentence entry={entry} who={entry.actor.name ?? undefined} name={nameOf(entry)} />
  );
  return (
    <>
      <Verify />
      <Collection
        noun="entry"
        caption="Audit trail"
        csv="audit trail"
        rows={rows}
        usual={8}
        keyOf={({ id }) => id}
        filters={
          <>
            <Filter
              name="actor"
              label="Who"
              options={[
                { value: "", label: "Everyone" },
                ...members.map(({ user_id, name }) => ({ value: user_id, label: name })),
              ]}
            />
            <Filter name="action" label="What" options={KINDS} />
          </>
        }
        empty={{ title: "Nothing was changed yet.", about: "What users and keys change is listed here." }}
        columns={[
          { title: "When", cell: ({ at }) => <Time at={at} /> },
          { title: "What happened", cell: sentenceOf },
          { title: "From", isMinor: true, cell: ({ ip }) => <span class="dim">{ip ?? "–"}</span> },
        ]}
      />
    </>
  );
}

const KINDS = [
  { value: "", label: "Everything" },
  ...Object.entries(kinds).map(([value, { title }]) => ({ value, label: title })),
];

interface SentenceProps {
  entry: AuditEntry;
  /** Undefined for a key, and for a user who has left. */
  who: string | undefined;
  /** Undefined where the target has none, or is gone. */
  name: string | undefined;
}

/** `Ada changed the template Welcome`. */
function Sentence({ entry, who, name }: SentenceProps) {
  const { actor, action, outcome, code, sends } = entry;
  const text = textOf(saidBy(entry));
  const id = idOf(entry);
  return (
    <span class="entry" title={action}>
      <b>{who ?? actorOf(actor)}</b>{" "}
      {sends ? sentIn(sends) : `${outcome === "ok" ? text?.done : `tried to ${text?.tried}`} ${text?.what}`}
      {text?.isNamed && id && (
        <>
          {" "}
          <Target group={groupOf(entry)} id={id} name={name} />
        </>
      )}{" "}
      {outcome !== "ok" && <Badge {...outcomes[outcome]} />}{" "}
      {code && <span class="dim">{inWords(code.toLowerCase())}</span>}
    </span>
  );
}

/** All sends of a key in a quarter-hour are one entry. */
const sentIn = ({ count, from }: NonNullable<AuditEntry["sends"]>) =>
  `made ${count === 1 ? "one send" : `${number(count)} sends`} in the 15 minutes from ${momentText(from)}`;

function Target({ group, id, name }: { group: string; id: string; name: string | undefined }) {
  const page = kinds[group]?.page;
  if (page) return <a href={pathTo(page, `${kinds[group]?.folder ?? ""}${id}`)}>{name ?? shortId(id)}</a>;
  return name ? <b>{name}</b> : <span class="dim">{shortId(id)}</span>;
}

function Verify() {
  const [found, setFound] = useState<Pick<AuditVerdict, "verified" | "broken">>();
  const { isBusy, error, run } = useBusy(async () => {
    let page = await call("audit.verify", [{}]);
    let { verified } = page;
    while (page.next_cursor !== "") {
      page = await call("audit.verify", [{ cursor: page.next_cursor }]);
      verified += page.verified;
    }
    setFound({ verified, broken: page.broken });
  });
  return (
    <Card
      title="Integrity"
      actions={
        <Button icon="shield" needs="audit.verify" isBusy={isBusy} onClick={() => void run()}>
          Verify
        </Button>
      }
    >
      {error && <Failure error={error} />}
      {!found && (
        <p class="dim">
          Each entry holds a hash of the one before it. Verifying finds the first entry that was changed or removed.
        </p>
      )}
      {found && !found.broken && (
        <p>
          <Badge state="verified" word="intact" /> {plural(found.verified, "entry is", "entries are")} as written.
        </p>
      )}
      {found?.broken && (
        <p>
          <Badge state="failed" word="broken" /> Entry {found.broken.id}: {inWords(found.broken.reason)}.
        </p>
      )}
    </Card>
  );
}
