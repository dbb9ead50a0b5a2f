// Experiences: what the app shows, with status and statistics of the chosen one.
import type { Experience, Target } from "../../../sdk/src/types.gen.ts";
import { useAction } from "../../app/action.ts";
import { useFields } from "../../app/fields.ts";
import { useQuery } from "../../app/query.ts";
import { pathTo, place } from "../../app/router.ts";
import { PAGE_SIZE, pageNumber, useNumbered } from "../../app/rows.ts";
import { number, share } from "../../app/time.ts";
import { say } from "../../app/toast.ts";
import { Badge } from "../../components/badge.tsx";
import { Act } from "../../components/button.tsx";
import { Collection } from "../../components/collection.tsx";
import { AskButton, FormDialog } from "../../components/dialog.tsx";
import { asOptions, inWords, SelectField, TextField } from "../../components/field.tsx";
import { Card, Figure, Time } from "../../components/page.tsx";
import { TargetPicker } from "../../components/pickers.tsx";
import { Failure, Loaded, Skeleton } from "../../components/states.tsx";

const EVERY_MS = 10_000;
const FORMATS = asOptions(["banner", "modal", "card", "fullscreen", "inbox_only"]);

export function Experiences() {
  const page = pageNumber();
  const rows = useNumbered("experiences.list", [{ page, page_size: PAGE_SIZE }], ({ items }) => items, {
    every: EVERY_MS,
  });
  const chosen = rows.items.find(({ id }) => id === place.value.parts[1]) ?? rows.items[0];
  return (
    <Collection
      noun="experience"
      caption="Experiences"
      rows={rows}
      usual={4}
      keyOf={({ id }) => id}
      hrefOf={({ id }) => pathTo("content", `experiences/${id}`, { page: page > 1 ? `${page}` : "" })}
      selected={chosen?.id}
      beside={chosen && <One key={chosen.id} experience={chosen} />}
      empty={{ about: "An experience is a banner, a card or a full screen that the app shows." }}
      columns={[
        { title: "Name", cell: ({ name }) => name },
        { title: "Format", cell: ({ format }) => <span class="dim">{inWords(format)}</span> },
        { title: "Status", cell: ({ status }) => <Badge state={status} /> },
        { title: "Created", cell: ({ created_at }) => <Time at={created_at} /> },
      ]}
      add={{ operation: "experiences.create", label: "New experience", by: (close) => <Add close={close} /> }}
    />
  );
}

function One({ experience: { id, name, status, content } }: { experience: Experience }) {
  const stats = useQuery("experiences.getStats", [id], { every: EVERY_MS });
  const publish = useAction("experiences.publish");
  const pause = useAction("experiences.pause");
  const resume = useAction("experiences.resume");
  const error = publish.error ?? pause.error ?? resume.error;
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
          <Act kind="primary" action={publish} given={[id]} said={`${name} is published.`}>
            Publish
          </Act>
        )}
        {status === "live" && (
          <Act action={pause} given={[id]}>
            Pause
          </Act>
        )}
        {status === "paused" && (
          <Act action={resume} given={[id]}>
            Resume
          </Act>
        )}
        {(status === "live" || status === "paused") && (
          <AskButton
            label="End"
            operation="experiences.end"
            given={[id]}
            title="End this experience?"
            act="End it"
            said={`${name} has ended.`}
          >
            Its messages disappear from the app, and it cannot be resumed.
          </AskButton>
        )}
      </div>
    </Card>
  );
}

function Add({ close }: { close: () => void }) {
  const create = useAction("experiences.create");
  const start = { name: "", format: "banner" as Experience["format"], title: "", body: "" };
  const { values, set, field, faultAt, placed } = useFields({ ...start, audience: { type: "all" } as Target }, create);
  const save = async () => {
    const { title, body, ...experience } = values;
    if (!(await create.run({ ...experience, content: { title, body } }))) return;
    say(`${experience.name} is saved as a draft.`);
    close();
  };
  return (
    <FormDialog
      title="New experience"
      action={create}
      placed={placed}
      submit="Save as a draft"
      close={close}
      onSubmit={save}
    >
      <TextField label="Name" {...field("name")} required />
      <SelectField label="Format" {...field("format")} options={FORMATS} />
      <TextField label="Title" {...field("title", "content.title")} required />
      <TextField label="Body" rows={3} {...field("body", "content.body")} required />
      <TargetPicker
        target={values.audience}
        onInput={(audience) => set({ audience })}
        faultAt={(part) => faultAt(`audience${part}`)}
      />
    </FormDialog>
  );
}
