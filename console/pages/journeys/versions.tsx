// The versions of a journey that were activated: each with its numbers, the difference of two, and moving runs between them.
import { useState } from "preact/hooks";
import type { JourneyDiff, JourneyVersion, SegmentRule } from "../../../sdk/src/types.gen.ts";
import { isJsonObject } from "../../../shared/kernel/objects.ts";
import { useQuery } from "../../app/query.ts";
import { clipped, plural } from "../../app/time.ts";
import { Button } from "../../components/button.tsx";
import { SelectField } from "../../components/field.tsx";
import { Card } from "../../components/page.tsx";
import { ruleText } from "../../components/rule-model.ts";
import { Loaded, Skeleton } from "../../components/states.tsx";
import { nameOf, settingsOf } from "../../components/step-words.ts";
import { Table } from "../../components/table.tsx";
import { Migrate } from "./migrate.tsx";
import { triggerText } from "./steps.ts";

interface VersionsProps {
  id: string;
  /** The version that the chart shows instead of the journey as it is now. */
  chosen: number | undefined;
  choose: (version: JourneyVersion | undefined) => void;
}

export function Versions({ id, chosen, choose }: VersionsProps) {
  const versions = useQuery("journeys.listVersions", [id]);
  return (
    <Card title="Versions">
      <Loaded query={versions} skeleton={<Skeleton rows={2} />}>
        {({ items }) =>
          items.length === 0 ? (
            <p class="dim">Each activation makes a version. There is none yet.</p>
          ) : (
            <>
              <Table
                caption="Versions"
                rows={items}
                keyOf={({ version }) => String(version)}
                columns={[
                  { title: "Version", cell: ({ version }: JourneyVersion) => <b>{version}</b> },
                  { title: "Trigger", cell: ({ trigger }: JourneyVersion) => triggerText(trigger) },
                  {
                    title: "Steps",
                    isNumber: true,
                    cell: ({ steps }: JourneyVersion) => Object.keys(steps.steps ?? {}).length,
                  },
                  {
                    title: "",
                    cell: (one: JourneyVersion) => (
                      <Button
                        kind="quiet"
                        label={`Show version ${one.version} with its numbers`}
                        pressed={chosen === one.version}
                        onClick={() => choose(chosen === one.version ? undefined : one)}
                      >
                        Show
                      </Button>
                    ),
                  },
                ]}
              />
              {items.length > 1 && <Compare id={id} versions={items} />}
            </>
          )
        }
      </Loaded>
    </Card>
  );
}

function Compare({ id, versions }: { id: string; versions: readonly JourneyVersion[] }) {
  const [from, setFrom] = useState(versions[1]!);
  const [to, setTo] = useState(versions[0]!);
  const pick = (set: (version: JourneyVersion) => void) => (wanted: string) => {
    const found = versions.find(({ version }) => String(version) === wanted);
    if (found) set(found);
  };
  const options = versions.map(({ version }) => ({ value: String(version), label: `Version ${version}` }));
  const isSame = from.version === to.version;
  const diff = useQuery("journeys.getVersionsDiff", [id, String(from.version), String(to.version)], { when: !isSame });
  return (
    <>
      <h3>What differs</h3>
      <div class="row">
        <SelectField label="From" value={String(from.version)} options={options} onInput={pick(setFrom)} />
        <SelectField label="To" value={String(to.version)} options={options} onInput={pick(setTo)} />
      </div>
      {isSame ? (
        <p class="dim">Choose two versions.</p>
      ) : (
        <>
          <Loaded query={diff} skeleton={<Skeleton rows={3} />}>
            {(found) => <Difference diff={found} from={from} to={to} />}
          </Loaded>
          <Migrate key={`${from.version}.${to.version}`} id={id} from={from} to={to} />
        </>
      )}
    </>
  );
}

const words: Record<string, string> = {
  trigger: "What begins it differs.",
  entry_rules: "Who may enter, and how often, differs.",
  start: "It starts with another step.",
  exit_conditions: "What ends it early differs.",
};

const MAX_TEXT = 120;

const textOf = (value: unknown): string => clipped(value === undefined ? "nothing" : JSON.stringify(value), MAX_TEXT);

/** What differs within a setting: the name of each part, with its value before and after. */
function changesOf(name: string, before: unknown, after: unknown): string[] {
  if (isJsonObject(before) && isJsonObject(after)) {
    const parts = [...new Set([...Object.keys(before), ...Object.keys(after)])];
    return parts.flatMap((part) => changesOf(`${name}.${part}`, before[part], after[part]));
  }
  const [from, to] = [textOf(before), textOf(after)];
  return from === to ? [] : [`${name} from ${from} to ${to}`];
}

function settingOf({ steps: { steps = {} } }: JourneyVersion, id: string, field: string): unknown {
  const step = steps[id];
  if (!step) return undefined;
  if (field === "type") return step.type;
  const value = settingsOf(step)[field];
  return field === "condition" ? ruleText(value as SegmentRule | undefined) : value;
}

function Difference({ diff, from, to }: { diff: JourneyDiff; from: JourneyVersion; to: JourneyVersion }) {
  const named = ({ steps: { steps = {} } }: JourneyVersion, id: string | null) => {
    if (id === null) return "the end";
    return steps[id] ? nameOf(steps[id]) : id;
  };
  const sentences = [
    ...diff.added.map((id) => `New: ${named(to, id)}.`),
    ...diff.removed.map((id) => `Gone: ${named(from, id)}.`),
    ...diff.changed.map(({ step, fields }) => {
      const changes = fields.flatMap((field) =>
        changesOf(field, settingOf(from, step, field), settingOf(to, step, field)),
      );
      return `Changed: ${named(to, step)} (${changes.join("; ")}).`;
    }),
    ...diff.edges.added.map((edge) => `New way: from ${named(to, edge.from)} to ${named(to, edge.to)} (${edge.by}).`),
    ...diff.edges.removed.map(
      (edge) => `Way gone: from ${named(from, edge.from)} to ${named(from, edge.to)} (${edge.by}).`,
    ),
    ...diff.others.map((name) => words[name] ?? name),
  ];
  if (sentences.length === 0) return <p class="dim">The two versions do the same.</p>;
  return (
    <>
      <p class="dim">{plural(sentences.length, "difference")}:</p>
      <ul class="stack tight">
        {sentences.map((sentence) => (
          <li key={sentence}>{sentence}</li>
        ))}
      </ul>
    </>
  );
}
