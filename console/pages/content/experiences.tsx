// Experiences: what the app shows, with status and statistics of the chosen one.
import { useState } from "preact/hooks";
import type { Experience, Target } from "../../../sdk/src/types.gen.ts";
import { useAction } from "../../app/action.ts";
import { useQuery } from "../../app/query.ts";
import { pathTo, place } from "../../app/router.ts";
import { number, share } from "../../app/time.ts";
import { say } from "../../app/toast.ts";
import { Badge } from "../../components/badge.tsx";
import { Button } from "../../components/button.tsx";
import { SelectField, TextField } from "../../components/field.tsx";
import { Form, FormFault } from "../../components/form.tsx";
import { Card, Confirm, Dialog, Figure, Time } from "../../components/page.tsx";
import { Pager, pageNumber } from "../../components/pager.tsx";
import { TargetPicker } from "../../components/pickers.tsx";
import { Empty, Failure, Loaded, Skeleton } from "../../components/states.tsx";
import { Table } from "../../components/table.tsx";

const PAGE_SIZE = 50;
const EVERY_MS = 10_000;
const STALE = ["experiences."];
const FORMATS = ["banner", "modal", "card", "fullscreen", "inbox_only"] as const;
const FIELDS = [
  "name",
  "format",
  "content.title",
  "content.body",
  "audience",
  "audience.list_id",
  "audience.segment_id",
];
type Format = Experience["format"];

const formatName = (format: string): string => format.replaceAll("_", " ");

export function Experiences() {
  const page = pageNumber();
  const experiences = useQuery("experiences.list", [{ page, page_size: PAGE_SIZE }], { every: EVERY_MS });
  const [isAdding, setAdding] = useState(false);
  const id = place.value.parts[1];
  const add = (
    <Button kind="primary" icon="plus" needs="experiences.create" onClick={() => setAdding(true)}>
      New experience
    </Button>
  );
  return (
    <>
      <Loaded query={experiences} skeleton={<Skeleton table rows={4} />}>
        {({ items, total }) => {
          if (items.length === 0)
            return (
              <Empty title="There are no experiences yet." action={add}>
                An experience is a banner, a card or a full screen that the app shows.
              </Empty>
            );
          const chosen = items.find((one) => one.id === id) ?? items[0];
          return (
            <>
              <div class="filters">{add}</div>
              <div class="grid wide">
                <Table
                  caption="Experiences"
                  rows={items}
                  keyOf={(one) => one.id}
                  hrefOf={(one) => pathTo("content", `experiences/${one.id}`, { page: page > 1 ? `${page}` : "" })}
                  selected={chosen?.id}
                  columns={[
                    { title: "Name", cell: ({ name }: Experience) => name },
                    {
                      title: "Format",
                      cell: ({ format }: Experience) => <span class="dim">{formatName(format)}</span>,
                    },
                    { title: "Status", cell: ({ status }: Experience) => <Badge state={status} /> },
                    { title: "Created", cell: ({ created_at }: Experience) => <Time at={created_at} /> },
                  ]}
                />
                {chosen && <One key={chosen.id} experience={chosen} />}
              </div>
              <Pager total={total} size={PAGE_SIZE} what="experience" />
            </>
          );
        }}
      </Loaded>
      {isAdding && <Add close={() => setAdding(false)} />}
    </>
  );
}

function One({ experience: { id, name, status, content } }: { experience: Experience }) {
  const stats = useQuery("experiences.getStats", [id], { every: EVERY_MS });
  const publish = useAction("experiences.publish", { stale: STALE });
  const pause = useAction("experiences.pause", { stale: STALE });
  const resume = useAction("experiences.resume", { stale: STALE });
  const end = useAction("experiences.end", { stale: STALE });
  const [isEnding, setEnding] = useState(false);
  const error = publish.error ?? pause.error ?? resume.error ?? end.error;
  return (
    <Card title={name}>
      {error && <Failure error={error} />}
      <div class="device">
        <div class="in-app-card">
          <b>{content.title}</b>
          {content.body && <p>{content.body}</p>}
          {content.actions && <p class="dim">{content.actions.map(({ title }) => title).join(" · ")}</p>}
        </div>
      </div>
      <Loaded query={stats} skeleton={<Skeleton rows={2} />}>
        {({ impressions, clicks, ctr, dismissals, unique_reach }) => (
          <div class="figures">
            <Figure value={number(unique_reach)} label="viewers" />
            <Figure value={number(impressions)} label="impressions" />
            <Figure value={number(clicks)} label={impressions ? `clicks (${share(ctr, 1)})` : "clicks"} />
            <Figure value={number(dismissals)} label="dismissals" />
          </div>
        )}
      </Loaded>
      <div class="actions">
        {status === "draft" && (
          <Button
            kind="primary"
            needs="experiences.publish"
            isBusy={publish.isBusy}
            onClick={async () => {
              if (await publish.run(id)) say(`${name} is published.`);
            }}
          >
            Publish
          </Button>
        )}
        {status === "live" && (
          <Button needs="experiences.pause" isBusy={pause.isBusy} onClick={() => void pause.run(id)}>
            Pause
          </Button>
        )}
        {status === "paused" && (
          <Button needs="experiences.resume" isBusy={resume.isBusy} onClick={() => void resume.run(id)}>
            Resume
          </Button>
        )}
        {(status === "live" || status === "paused") && (
          <Button kind="danger" needs="experiences.end" onClick={() => setEnding(true)}>
            End
          </Button>
        )}
      </div>
      {isEnding && (
        <Confirm
          title="End this experience?"
          act="End it"
          isBusy={end.isBusy}
          close={() => setEnding(false)}
          onConfirm={async () => {
            const done = await end.run(id);
            setEnding(false);
            if (done) say(`${name} has ended.`);
          }}
        >
          Its messages disappear from the app, and it cannot be resumed.
        </Confirm>
      )}
    </Card>
  );
}

function Add({ close }: { close: () => void }) {
  const create = useAction("experiences.create", { stale: STALE });
  const [name, setName] = useState("");
  const [format, setFormat] = useState<Format>("banner");
  const [title, setTitle] = useState("");
  const [body, setBody] = useState("");
  const [audience, setAudience] = useState<Target>({ type: "all" });
  const fields = create.error?.fields ?? {};
  return (
    <Dialog title="New experience" close={close}>
      <Form
        error={create.error}
        onSubmit={async () => {
          if (!(await create.run({ name, format, audience, content: { title, body } }))) return;
          say(`${name} is saved as a draft.`);
          close();
        }}
      >
        <TextField label="Name" value={name} onInput={setName} fault={fields.name} required />
        <SelectField
          label="Format"
          value={format}
          options={FORMATS.map((one) => ({ value: one, label: formatName(one) }))}
          onInput={(next) => setFormat(next as Format)}
          fault={fields.format}
        />
        <TextField label="Title" value={title} onInput={setTitle} fault={fields["content.title"]} required />
        <TextField label="Body" rows={3} value={body} onInput={setBody} fault={fields["content.body"]} required />
        <TargetPicker
          target={audience}
          onInput={setAudience}
          fields={{
            target: fields.audience ?? "",
            "target.list_id": fields["audience.list_id"] ?? "",
            "target.segment_id": fields["audience.segment_id"] ?? "",
          }}
        />
        <FormFault error={create.error} placed={FIELDS} />
        <div class="actions end">
          <Button onClick={close}>Cancel</Button>
          <Button kind="primary" type="submit" needs="experiences.create" isBusy={create.isBusy}>
            Save as a draft
          </Button>
        </div>
      </Form>
    </Dialog>
  );
}
