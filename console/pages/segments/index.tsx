// Segments: how many are they, and who is in? Rules as rows, with a count while they are written.
import { useState } from "preact/hooks";
import type { Segment, SegmentRule } from "../../../sdk/src/types.gen.ts";
import { useAction } from "../../app/action.ts";
import type { ArgumentsOf } from "../../app/api.ts";
import { useKept } from "../../app/kept.ts";
import { usePages } from "../../app/pages-of.ts";
import { go, pathTo, place } from "../../app/router.ts";
import { number } from "../../app/time.ts";
import { say } from "../../app/toast.ts";
import { Badge } from "../../components/badge.tsx";
import { Button, LinkButton } from "../../components/button.tsx";
import { Check, TextField } from "../../components/field.tsx";
import { Form, FormFault } from "../../components/form.tsx";
import { Card, Page, Time } from "../../components/page.tsx";
import { Empty, Failure, Loaded, Skeleton } from "../../components/states.tsx";
import { More, Table } from "../../components/table.tsx";
import { Builder } from "./builder.tsx";
import { OneSegment } from "./segment.tsx";

const EVERY_MS = 10_000;
const STALE = ["segments."];

export function View() {
  const [id] = place.value.parts;
  if (id === "new") return <New />;
  return id ? <OneSegment key={id} id={id} /> : <All />;
}

function All() {
  const list = usePages("segments.list", (cursor): ArgumentsOf<"segments.list"> => [{ ...(cursor && { cursor }) }], {
    every: EVERY_MS,
  });
  const items = list.pages.flatMap(({ segments }) => segments);
  const add = (
    <LinkButton kind="primary" icon="plus" needs="segments.create" href={pathTo("segments", "new")}>
      New segment
    </LinkButton>
  );
  return (
    <Page title="Segments" about="People by what they are and what they did." actions={add}>
      <Loaded query={list.first} skeleton={<Skeleton table rows={4} />}>
        {() =>
          items.length === 0 ? (
            <Empty title="There are no segments yet." action={add}>
              A segment is who a campaign goes to, or whose entry starts a journey.
            </Empty>
          ) : (
            <>
              <Table
                caption="Segments"
                rows={items}
                keyOf={({ id }) => id}
                hrefOf={({ id }) => pathTo("segments", id)}
                columns={[
                  { title: "Name", cell: ({ name }: Segment) => name },
                  { title: "People", isNumber: true, cell: ({ count }: Segment) => number(count) },
                  { title: "Type", cell: (segment: Segment) => <Kind segment={segment} /> },
                  { title: "Updated", cell: ({ updated_at }: Segment) => <Time at={updated_at} /> },
                ]}
              />
              {list.error && <Failure error={list.error} />}
              <More cursor={list.pages.at(-1)?.next_cursor ?? ""} isLoading={list.isLoading} load={list.load} />
            </>
          )
        }
      </Loaded>
    </Page>
  );
}

function Kind({ segment: { is_dynamic, needs_recompute } }: { segment: Segment }) {
  if (needs_recompute) return <Badge state="processing" word="being computed" />;
  return is_dynamic ? <Badge state="active" word="dynamic" /> : <Badge state="draft" word="static" />;
}

interface Draft {
  name: string;
  isDynamic: boolean;
  /** Undefined while its conditions are not finished. */
  rule: SegmentRule | undefined;
}

function New() {
  const create = useAction("segments.create", { stale: STALE });
  const {
    value: draft,
    keep,
    drop,
  } = useKept<Draft>("segment", () => ({ name: "", isDynamic: true, rule: undefined }));
  const { name, isDynamic, rule } = draft;
  const [kept] = useState(rule);
  const fields = create.error?.fields ?? {};
  const ruleFault = Object.entries(fields).find(([path]) => path.startsWith("rule"));
  return (
    <Page title="New segment" back={{ href: pathTo("segments"), label: "Segments" }}>
      <Form
        error={create.error}
        kind="stack"
        onSubmit={async () => {
          if (!rule) return;
          const done = await create.run({ name, rule, is_dynamic: isDynamic });
          if (!done) return;
          drop();
          say(`${name} is created; its members are being computed.`);
          go(pathTo("segments", done.answer.id));
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
          <Check
            label="Dynamic"
            note="People enter and leave as soon as they match, which can trigger journeys. Otherwise, members change when you recompute."
            checked={isDynamic}
            onInput={(next) => keep({ ...draft, isDynamic: next })}
          />
        </Card>
        <Builder
          rule={kept}
          onRule={(next) => keep({ ...draft, rule: next })}
          fault={ruleFault && `${ruleFault[0]}: ${ruleFault[1]}`}
        />
        <FormFault error={create.error} placed={["name", ...(ruleFault ? [ruleFault[0]] : [])]} />
        <div class="actions">
          <Button
            kind="primary"
            type="submit"
            needs="segments.create"
            isBusy={create.isBusy}
            refusal={rule ? undefined : "Finish the conditions first."}
          >
            Create the segment
          </Button>
        </div>
      </Form>
    </Page>
  );
}
