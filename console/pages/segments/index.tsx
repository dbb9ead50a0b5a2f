// Segments: how many are they, and who is in? Rules as rows, with a count while they are written.
import type { Segment } from "../../../sdk/src/types.gen.ts";
import { useAction } from "../../app/action.ts";
import { useKept } from "../../app/kept.ts";
import { isSame } from "../../app/merge.ts";
import { go, onward, pathTo, place } from "../../app/router.ts";
import { usePages } from "../../app/rows.ts";
import { number } from "../../app/time.ts";
import { say } from "../../app/toast.ts";
import { Badge } from "../../components/badge.tsx";
import { Collection } from "../../components/collection.tsx";
import { GiveUp } from "../../components/dialog.tsx";
import { Check } from "../../components/field.tsx";
import { Page, Time } from "../../components/page.tsx";
import { type RuleDraft, wholeOf } from "../../components/rule-builder.tsx";
import { Builder, RuleForm, UNFINISHED } from "./builder.tsx";
import { OneSegment } from "./segment.tsx";

const EVERY_MS = 10_000;

export function View() {
  const [id] = place.value.parts;
  if (id === "new") return <New />;
  return id ? <OneSegment key={id} id={id} /> : <All />;
}

function All() {
  const rows = usePages("segments.list", [{}], ({ segments }) => segments, { every: EVERY_MS });
  return (
    <Collection
      noun="segment"
      page={{ title: "Segments", about: "People by what they are and what they did." }}
      rows={rows}
      usual={4}
      keyOf={({ id }) => id}
      hrefOf={({ id }) => pathTo("segments", id)}
      empty={{ about: "A segment is who a campaign goes to, or whose entry starts a journey." }}
      columns={[
        { title: "Name", cell: ({ name }) => name },
        { title: "People", isNumber: true, cell: ({ count }) => number(count) },
        { title: "Type", isMinor: true, isWord: true, cell: (segment) => <Kind segment={segment} /> },
        { title: "Updated", isMinor: true, cell: ({ updated_at }) => <Time at={updated_at} /> },
      ]}
      add={{ operation: "segments.create", label: "New segment", by: pathTo("segments", "new") }}
    />
  );
}

function Kind({ segment: { is_dynamic, needs_recompute } }: { segment: Segment }) {
  if (needs_recompute) return <Badge state="processing" word="being computed" />;
  return <span class="dim">{is_dynamic ? "dynamic" : "static"}</span>;
}

interface Draft extends RuleDraft {
  name: string;
  isDynamic: boolean;
}

function New() {
  const create = useAction("segments.create");
  const kept = useKept<Draft>("segment", () => ({
    name: "",
    isDynamic: true,
    rule: undefined,
    isWhole: false,
  }));
  const { name, isDynamic } = kept.value;
  const rule = wholeOf(kept.value);
  const leave = () => {
    kept.drop();
    go(pathTo("segments"));
  };
  const save = async () => {
    const to = onward();
    const done = rule && (await create.run({ name, rule, is_dynamic: isDynamic }));
    if (!done) return;
    const { id } = done.answer;
    say(`${name} is created; its members are being computed.${kept.accepted(`segment.${id}`)}`);
    to(pathTo("segments", id));
  };
  return (
    <Page title="New segment" back={{ href: pathTo("segments"), label: "Segments" }}>
      <RuleForm
        action={create}
        name={name}
        onName={(next) => kept.set({ name: next })}
        more={
          <Check
            label="Dynamic"
            note="People enter and leave as soon as they match, which can trigger journeys. Otherwise, members change when you recompute."
            checked={isDynamic}
            onInput={(next) => kept.set({ isDynamic: next })}
          />
        }
        submit="Create the segment"
        refusal={rule ? undefined : UNFINISHED}
        kept={kept}
        onSubmit={save}
        buttons={<GiveUp isChanged={!isSame(kept.value, kept.begun)} onClick={leave} />}
      >
        {(fault) => <Builder written={kept.value} onRule={kept.set} fault={fault} />}
      </RuleForm>
    </Page>
  );
}
