// The rule of a segment, with the count of those who match while it is written.
import type { ComponentChildren } from "preact";
import type { Segment, SegmentRule } from "../../../sdk/src/types.gen.ts";
import type { RunningAction } from "../../app/action.ts";
import { isSame, unsavedOf } from "../../app/merge.ts";
import { useQuery } from "../../app/query.ts";
import { useSettled } from "../../app/settled.ts";
import { plural } from "../../app/time.ts";
import { TextField } from "../../components/field.tsx";
import { Form, FormEnd } from "../../components/form.tsx";
import { Card } from "../../components/page.tsx";
import { PersonLink } from "../../components/person.tsx";
import { RuleBuilder, type RuleDraft, wholeOf } from "../../components/rule-builder.tsx";
import { Failure } from "../../components/states.tsx";

const WAIT_MS = 400;

interface BuilderProps {
  written: RuleDraft;
  onRule: (written: RuleDraft) => void;
  /** What the API says about the rule, by path. */
  fault?: string | undefined;
  /** As it is stored. A changed rule is counted anew, with the people who would enter and leave. */
  stored?: Segment;
}

export function Builder({ written, onRule, fault, stored }: BuilderProps) {
  const rule = wholeOf(written);
  return (
    <>
      <Card title="Conditions">
        <RuleBuilder written={written} fault={fault} onInput={onRule} />
      </Card>
      {stored && !stored.needs_recompute && isSame(rule, stored.rule) ? (
        <Card title="Size">
          <p class="verdict">
            <b>{plural(stored.count, "person", "people")}</b>
          </p>
        </Card>
      ) : (
        <Count rule={rule}>{stored && !isSame(rule, stored.rule) && <Moves id={stored.id} rule={rule} />}</Count>
      )}
    </>
  );
}

function Count({ rule, children }: { rule: SegmentRule | undefined; children: ComponentChildren }) {
  const asked = useSettled(rule, WAIT_MS);
  const preview = useQuery("segments.preview", [asked ?? { attribute: {} }], { when: asked !== undefined });
  const { error } = preview;
  // What was asked before is the size of another rule.
  const data = isSame(rule, asked) ? preview.data : undefined;
  return (
    <Card title="Size">
      {error && <Failure error={error} retry={preview.refresh} />}
      <p class="verdict" aria-live="polite">
        {!rule && UNFINISHED}
        {rule && !data && !error && "Counting…"}
        {rule && data && (
          <b>
            {data.exact ? "" : "About "}
            {plural(data.estimated_count, "person", "people")}
          </b>
        )}
      </p>
      {data && data.sample_subscriber_ids.length > 0 && (
        <p class="dim">
          Among them{" "}
          {data.sample_subscriber_ids.slice(0, 3).map((id, n) => (
            <>
              {n > 0 && ", "}
              <PersonLink key={id} id={id} />
            </>
          ))}
        </p>
      )}
      {children}
    </Card>
  );
}

/** How many people enter and leave once the rule is saved. */
function Moves({ id, rule }: { id: string; rule: SegmentRule | undefined }) {
  const asked = useSettled(rule, WAIT_MS);
  const { data } = useQuery("segments.compare", [id, { rule: asked ?? { attribute: {} } }], {
    when: asked !== undefined,
  });
  if (!data || !isSame(rule, asked)) return null;
  const { entering, leaving, exact } = data;
  return (
    <p>
      {exact ? "" : "About "}
      {plural(entering.estimated_count, "person enters", "people enter")},{" "}
      {plural(leaving.estimated_count, "person leaves", "people leave")} once it is saved.
    </p>
  );
}

export const UNFINISHED = "Finish the conditions first.";

const WORDS = {
  rule: "conditions",
  isWhole: "conditions",
  rows: "conditions",
  text: "conditions",
  isDynamic: "dynamic",
};

interface RuleFormProps {
  action: RunningAction;
  name: string;
  onName: (name: string) => void;
  /** Below the name. */
  more?: ComponentChildren;
  submit: string;
  refusal: string | undefined;
  kept: { value: object; begun: object };
  onSubmit: () => Promise<void>;
  buttons?: ComponentChildren;
  /** The conditions, with what the API says about them. */
  children: (fault: string | undefined) => ComponentChildren;
}

export function RuleForm(props: RuleFormProps) {
  const { action, name, onName, more, submit, refusal, kept, onSubmit, buttons, children } = props;
  const fields = action.error?.fields ?? {};
  const [path, fault] = Object.entries(fields).find(([one]) => one.startsWith("rule")) ?? [];
  return (
    <Form error={action.error} kind="stack" onSubmit={onSubmit}>
      <Card>
        <TextField label="Name" value={name} onInput={onName} fault={fields.name} required />
        {more}
      </Card>
      {children(path && `${path}: ${fault}`)}
      <FormEnd
        action={action}
        placed={path ? ["name", path] : ["name"]}
        submit={submit}
        refusal={refusal}
        unsaved={unsavedOf(kept, WORDS)}
      >
        {buttons}
      </FormEnd>
    </Form>
  );
}
