// An experience as a draft: its text and look, audience, times, and the arm that it is compared with.
import { useRef, useState } from "preact/hooks";
import type { Experience } from "../../../sdk/src/types.gen.ts";
import { useAction } from "../../app/action.ts";
import { call } from "../../app/api.ts";
import { type Fields, fieldsOf } from "../../app/fields.ts";
import { useKept } from "../../app/kept.ts";
import { isSame, unsavedOf } from "../../app/merge.ts";
import { useQuery } from "../../app/query.ts";
import { go, onward, pathTo } from "../../app/router.ts";
import { zone } from "../../app/time.ts";
import { say } from "../../app/toast.ts";
import { ArmShare, ArmTabs } from "../../components/arms.tsx";
import { ButtonList } from "../../components/button-list.tsx";
import { seenBy, useGuard } from "../../components/conflict.tsx";
import { GiveUp } from "../../components/dialog.tsx";
import { ExperienceSeen } from "../../components/experience-seen.tsx";
import { Choices, SelectField, TextField } from "../../components/field.tsx";
import { Form, FormEnd } from "../../components/form.tsx";
import { ImageField } from "../../components/image-field.tsx";
import { EventField } from "../../components/known.tsx";
import { useSeenBy } from "../../components/message-preview.tsx";
import { Card, Page } from "../../components/page.tsx";
import { HoldoutSlider, TargetPicker } from "../../components/pickers.tsx";
import { Warnings } from "../../components/rendered.tsx";
import { Loaded, Skeleton } from "../../components/states.tsx";
import { useLastWritten, Variables } from "../../components/variables.tsx";
import { type Arm, bodyOf, draftOf, type ExperienceDraft, FREQUENCIES, TRIGGERS } from "./experience-draft.ts";

const FORMATS = {
  banner: "Banner",
  modal: "Modal",
  card: "Card",
  fullscreen: "Full screen",
  inbox_only: "Inbox only",
};
const WORDS = {
  a: "content",
  b: "variant B",
  isTest: "variant B",
  actions: "buttons",
  trigger_event: "event",
  split: "variant B",
  holdout: "control group",
};
const MAX_ACTIONS = 4;

const listPath = (id = ""): string => pathTo("content", `experiences/${id}`);

/** Of the draft with this id; `new` is one that is not saved yet. */
export function ExperienceEditor({ id }: { id: string }) {
  const isNew = id === "new";
  const found = useQuery("experiences.get", [id], { when: !isNew });
  return (
    <Page
      title={isNew ? "New experience" : (found.data?.name ?? "Experience")}
      about="It is a draft until you publish it."
      back={{ href: listPath(isNew ? "" : id), label: "Experiences" }}
    >
      {isNew ? (
        <Editor />
      ) : (
        <Loaded query={found} skeleton={<Skeleton rows={8} />}>
          {(experience) => <Editor key={experience.updated_at} experience={experience} />}
        </Loaded>
      )}
    </Page>
  );
}

function Editor({ experience }: { experience?: Experience }) {
  const kept = useKept<ExperienceDraft>(`experience.${experience?.id ?? "new"}`, () => draftOf(experience));
  const draft = kept.value;
  const create = useAction("experiences.create");
  const update = useAction("experiences.update");
  const action = experience ? update : create;
  const [arm, setArm] = useState<"a" | "b">("a");
  const form = fieldsOf(draft, kept.set, action.error?.fields);
  const leave = () => {
    kept.drop();
    go(listPath(experience?.id));
  };
  const known = useRef(experience);
  const guard = useGuard(experience && kept.begun, () =>
    seenBy(
      (options) => call("experiences.get", [experience?.id ?? "", options]),
      (found) => {
        known.current = found;
        return draftOf(found);
      },
    ),
  );
  const save = async () => {
    const to = onward();
    const mine = await guard.settle(draft);
    if (!mine) return;
    const body = bodyOf(mine.body, known.current);
    const done = experience
      ? await update.run(experience.id, { ...body, ...(!mine.body.isTest && { remove_variant_b: true }) }, mine.over)
      : await create.run(body);
    if (!done) return;
    const { id } = done.answer;
    const later = kept.accepted(`experience.${id}`);
    say(`${draft.name} is saved as a draft.${later}`);
    to(listPath(later ? `${id}/edit` : id));
  };
  const shown = draft.isTest ? arm : "a";
  const { title, body } = draft[shown];
  const { rendering, fault, field: seenBySomebody } = useSeenBy(title && body ? { title, body } : undefined, "in_app");
  return (
    <Form error={action.error} kind="composer" onSubmit={save}>
      <div class="stack">
        <Says form={form} arm={shown} setArm={setArm} />
        <Shows form={form} />
        <Reaches form={form} />
        <FormEnd action={action} placed={form.placed} submit="Save the draft" unsaved={unsavedOf(kept, WORDS)}>
          <GiveUp isChanged={!isSame(draft, kept.begun)} onClick={leave} />
        </FormEnd>
      </div>
      <aside class="stack preview" aria-label="Preview">
        <Card title={draft.isTest ? `Variant ${shown.toUpperCase()}` : "Preview"}>
          {fault}
          <ExperienceSeen
            format={draft.format}
            actions={draft.actions}
            image_url={draft[shown].image_url}
            title={rendering?.title ?? (title || "Title")}
            body={rendering?.body ?? (body || (title ? "" : "Body"))}
          />
          {rendering && <Warnings {...rendering} />}
          {seenBySomebody}
        </Card>
      </aside>
      {guard.question}
    </Form>
  );
}

interface PartProps {
  form: Fields<ExperienceDraft>;
}

interface SaysProps extends PartProps {
  arm: "a" | "b";
  setArm: (arm: "a" | "b") => void;
}

function Says({ form: { values, set, field, faultAt }, arm, setArm }: SaysProps) {
  const path = arm === "a" ? "content" : "variant_b";
  const { inside, note, insert } = useLastWritten();
  const change = (part: Partial<Arm>) => set({ [arm]: { ...values[arm], ...part } });
  const input = (name: keyof Arm) => ({
    value: values[arm][name],
    onInput: (text: string) => change({ [name]: text }),
    fault: faultAt(`${path}.${name}`),
  });
  return (
    <Card title="Content">
      <TextField label="Name" {...field("name")} required />
      <Choices legend="Format" name="format" {...field("format")} options={FORMATS} />
      {values.isTest && (
        <fieldset class="channel-tabs" aria-label="Variant">
          <ArmTabs arm={arm} show={setArm} />
        </fieldset>
      )}
      <div class="stack" ref={inside} onFocusIn={note}>
        <TextField label="Title" {...input("title")} />
        <TextField label="Body" rows={4} {...input("body")} />
        <Variables insert={insert} />
      </div>
      <ImageField label="Image" {...input("image_url")} />
      <ButtonList
        buttons={values.actions}
        max={MAX_ACTIONS}
        onInput={(actions) => set({ actions })}
        faultAt={(rest) => faultAt(`content.actions${rest}`)}
      />
      <ArmShare
        ab={values.isTest}
        split={values.split}
        note="Each person sees one of the two; buttons are the same."
        // B has texts of its own, and begins with those of A.
        onInput={({ ab = values.isTest, split = values.split }) => {
          set({ isTest: ab, split, ...(ab && !values.b.title && !values.b.body && { b: values.a }) });
          if (ab !== values.isTest) setArm(ab ? "b" : "a");
        }}
      />
    </Card>
  );
}

function Shows({ form: { values, field } }: PartProps) {
  return (
    <Card title="Display">
      <div class="row">
        <SelectField label="Shown" {...field("trigger", "display.trigger")} options={TRIGGERS} />
        {values.trigger === "event" && (
          <EventField label="Event" {...field("trigger_event", "display.trigger_event")} required />
        )}
        <SelectField label="How often" {...field("frequency", "display.frequency")} options={FREQUENCIES} />
        <TextField
          label="Priority, 1 to 10"
          type="number"
          min={1}
          max={10}
          {...field("priority", "display.priority")}
          placeholder="5"
        />
      </div>
      <TextField
        label="Screens (optional)"
        rows={2}
        {...field("screens", "display.screens")}
        hint="Routes of the app, such as /home, one a line. Empty: everywhere."
      />
    </Card>
  );
}

function Reaches({ form: { values, set, field, faultAt } }: PartProps) {
  return (
    <Card title="Audience and time">
      <TargetPicker
        target={values.audience}
        onInput={(audience) => set({ audience })}
        faultAt={(part) => faultAt(`audience${part}`)}
      />
      <div class="row">
        <TextField
          label={`Starts (${zone}; empty: on publishing)`}
          type="datetime-local"
          {...field("start", "start_at")}
        />
        <TextField label={`Ends (${zone}; empty: never)`} type="datetime-local" {...field("end", "end_at")} />
      </div>
      <HoldoutSlider {...field("holdout", "holdout_percentage")} />
    </Card>
  );
}
