// One segment: its rule, its members, and whether somebody is in it, clause by clause.
import { useState } from "preact/hooks";
import type { Segment, SegmentRule } from "../../../sdk/src/types.gen.ts";
import { useAction } from "../../app/action.ts";
import type { ArgumentsOf } from "../../app/api.ts";
import { useKept } from "../../app/kept.ts";
import { usePages } from "../../app/pages-of.ts";
import { useQuery } from "../../app/query.ts";
import { go, pathTo } from "../../app/router.ts";
import { plural } from "../../app/time.ts";
import { say } from "../../app/toast.ts";
import { Badge } from "../../components/badge.tsx";
import { Button } from "../../components/button.tsx";
import { TextField } from "../../components/field.tsx";
import { Form, FormFault } from "../../components/form.tsx";
import { Card, Confirm, Page, Time } from "../../components/page.tsx";
import { Empty, Failure, Loaded, Skeleton } from "../../components/states.tsx";
import { More, Table } from "../../components/table.tsx";
import { Builder } from "./builder.tsx";
import { wordsOf } from "./words.ts";

const EVERY_MS = 5_000;
const STALE = ["segments."];

export function OneSegment({ id }: { id: string }) {
  const segment = useQuery("segments.get", [id], { every: EVERY_MS });
  const recompute = useAction("segments.recompute", { stale: STALE });
  const remove = useAction("segments.delete", { stale: STALE });
  const [isAsking, setAsking] = useState(false);
  const { data } = segment;
  const error = recompute.error ?? remove.error;
  return (
    <Page
      title={data?.name ?? "Segment"}
      back={{ href: pathTo("segments"), label: "Segments" }}
      about={
        data && (data.needs_recompute ? "Its members are being computed." : plural(data.count, "person", "people"))
      }
      actions={
        data && (
          <>
            <Button
              needs="segments.recompute"
              isBusy={recompute.isBusy}
              onClick={async () => {
                if (await recompute.run(id)) say("It is being recomputed.");
              }}
            >
              Recompute
            </Button>
            <Button kind="danger" needs="segments.delete" onClick={() => setAsking(true)}>
              Delete
            </Button>
          </>
        )
      }
    >
      {error && <Failure error={error} />}
      <Loaded query={segment} skeleton={<Skeleton rows={6} />}>
        {(found) => <Rule key={found.updated_at} segment={found} />}
      </Loaded>
      <IsIn id={id} />
      <Members id={id} />
      {isAsking && data && (
        <Confirm
          title={`Delete ${data.name}?`}
          name={data.name}
          act="Delete the segment"
          isBusy={remove.isBusy}
          close={() => setAsking(false)}
          onConfirm={async () => {
            const done = await remove.run(id);
            setAsking(false);
            if (!done) return;
            say(`${data.name} is deleted.`);
            go(pathTo("segments"));
          }}
        >
          The people in it stay. What uses the segment refuses the deletion by name.
        </Confirm>
      )}
    </Page>
  );
}

interface Draft {
  name: string;
  /** Undefined while its conditions are not finished. */
  rule: SegmentRule | undefined;
}

function Rule({ segment: { id, name: known, rule: stored, count } }: { segment: Segment }) {
  const update = useAction("segments.update", { stale: STALE });
  const { value: draft, keep, drop, discard } = useKept<Draft>(`segment.${id}`, () => ({ name: known, rule: stored }));
  const { name, rule } = draft;
  // What the rows of conditions begin with, and how often that was: they keep what is typed.
  const [begun, setBegun] = useState(rule);
  const [round, setRound] = useState(0);
  const fields = update.error?.fields ?? {};
  const ruleFault = Object.entries(fields).find(([path]) => path.startsWith("rule"));
  const isChanged = name !== known || JSON.stringify(rule) !== JSON.stringify(stored);
  return (
    <Form
      error={update.error}
      kind="stack"
      onSubmit={async () => {
        if (!rule || !(await update.run(id, { name, rule }))) return;
        drop();
        say("Saved. Its members are being computed.");
      }}
    >
      <Card>
        <TextField
          label="Name"
          value={name}
          onInput={(next) => keep({ ...draft, name: next })}
          fault={fields.name}
          required
        />
      </Card>
      <Builder
        key={round}
        rule={stored}
        begun={begun}
        members={count}
        onRule={(next) => keep({ ...draft, rule: next })}
        fault={ruleFault && `${ruleFault[0]}: ${ruleFault[1]}`}
      />
      <FormFault error={update.error} placed={["name", ...(ruleFault ? [ruleFault[0]] : [])]} />
      <div class="actions">
        <Button
          kind="primary"
          type="submit"
          needs="segments.update"
          isBusy={update.isBusy}
          refusal={!rule ? "Finish the conditions first." : isChanged ? undefined : "Nothing has changed."}
        >
          Save
        </Button>
        {isChanged && (
          <Button
            kind="quiet"
            onClick={() => {
              discard();
              setBegun(stored);
              setRound(round + 1);
            }}
          >
            Discard
          </Button>
        )}
      </div>
    </Form>
  );
}

function IsIn({ id }: { id: string }) {
  const [text, setText] = useState("");
  const [asked, setAsked] = useState("");
  const found = useQuery("subscribers.list", [{ external_id: asked }], { when: asked !== "" });
  const subscriber = found.data?.items[0];
  const member = useQuery("segments.getMember", [id, subscriber?.id ?? ""], { when: subscriber !== undefined });
  const isUnknown = asked !== "" && found.data !== undefined && subscriber === undefined;
  return (
    <Card title="Check a person">
      <Form
        kind="row"
        onSubmit={() => {
          setAsked(text.trim());
        }}
      >
        <TextField label="External ID" value={text} onInput={setText} />
        <Button type="submit">Check</Button>
      </Form>
      {isUnknown && <p>No subscriber has this ID.</p>}
      {(found.error ?? member.error) && <Failure error={(found.error ?? member.error)!} />}
      {subscriber && member.data && (
        <>
          <p class="verdict">
            <Badge
              state={member.data.member ? "active" : "not_in_audience"}
              word={member.data.member ? "is a member" : "is not a member"}
            />{" "}
            <a href={pathTo("people", subscriber.id)}>{subscriber.external_id}</a>
          </p>
          <Table
            caption="Conditions"
            rows={member.data.reasons}
            keyOf={({ path }) => path}
            columns={[
              { title: "Condition", cell: ({ path }) => <code>{path}</code> },
              {
                title: "Met",
                cell: ({ matched }) => <Badge state={matched ? "active" : "failed"} word={matched ? "yes" : "no"} />,
              },
              { title: "Expected", cell: ({ expected }) => wordsOf(expected) },
              {
                title: "Actual",
                cell: ({ actual }) => (actual === undefined ? "–" : <code>{JSON.stringify(actual)}</code>),
              },
            ]}
          />
        </>
      )}
    </Card>
  );
}

function Members({ id }: { id: string }) {
  const list = usePages(
    "segments.listMembers",
    (cursor): ArgumentsOf<"segments.listMembers"> => [id, { ...(cursor && { cursor }) }],
    { every: EVERY_MS },
  );
  const items = list.pages.flatMap((page) => page.items);
  return (
    <Card title="Members" flush>
      <Loaded query={list.first} skeleton={<Skeleton table rows={4} />}>
        {() =>
          items.length === 0 ? (
            <Empty title="There are no members." />
          ) : (
            <>
              <Table
                caption="Members"
                rows={items}
                keyOf={({ subscriber_id }) => subscriber_id}
                hrefOf={({ subscriber_id }) => pathTo("people", subscriber_id)}
                columns={[
                  { title: "External ID", cell: ({ external_id }) => external_id },
                  { title: "Since", cell: ({ entered_at }) => <Time at={entered_at} /> },
                ]}
              />
              {list.error && <Failure error={list.error} />}
              <More cursor={list.pages.at(-1)?.next_cursor ?? ""} isLoading={list.isLoading} load={list.load} />
            </>
          )
        }
      </Loaded>
    </Card>
  );
}
