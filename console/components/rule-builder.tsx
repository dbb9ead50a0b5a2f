// Rows of conditions over the attributes and events that the workspace knows; JSON for rules that rows cannot show.
import { useState } from "preact/hooks";
import type { SegmentRule } from "../../sdk/src/types.gen.ts";
import { useQuery } from "../app/query.ts";
import { Button } from "./button.tsx";
import { TextField } from "./field.tsx";
import { type AttributeRow, type EventRow, operators, type Row, type Rows, rowsOf, ruleOf } from "./rule-model.ts";

const NEW_ATTRIBUTE: AttributeRow = { kind: "attribute", key: "", operator: "$eq", value: "" };
const NEW_EVENT: EventRow = { kind: "event", name: "", bound: "min", count: 1, within: "30d" };

interface RuleBuilderProps {
  rule: SegmentRule | undefined;
  /** Undefined while the rule is not complete. */
  onInput: (rule: SegmentRule | undefined) => void;
  fault?: string | undefined;
}

export function RuleBuilder({ rule, onInput, fault }: RuleBuilderProps) {
  const [rows, setRows] = useState<Rows | undefined>(() =>
    rule ? rowsOf(rule) : { op: "and", rows: [NEW_ATTRIBUTE] },
  );
  const [text, setText] = useState(() => JSON.stringify(rule ?? {}, null, 2));
  const [isJson, setJson] = useState(rows === undefined);
  const keys = useQuery("segments.listAttributeKeys", []);
  const events = useQuery("segments.listEventNames", []);
  const change = (next: Rows) => {
    setRows(next);
    const made = ruleOf(next);
    setText(JSON.stringify(made, null, 2));
    const isWhole = next.rows.every((row) =>
      row.kind === "event" ? row.name : row.key && (row.value !== "" || row.operator === "$exists"),
    );
    onInput(isWhole && next.rows.length > 0 ? made : undefined);
  };
  const changeText = (next: string) => {
    setText(next);
    try {
      const made = JSON.parse(next) as SegmentRule;
      setRows(rowsOf(made));
      onInput(made);
    } catch {
      // Not JSON yet: the rule is not complete.
      onInput(undefined);
    }
  };
  const set = (at: number, row: Row) =>
    rows && change({ ...rows, rows: rows.rows.map((one, n) => (n === at ? row : one)) });

  if (isJson || !rows)
    return (
      <div class="stack tight">
        <TextField label="Rule as JSON" rows={12} code value={text} onInput={changeText} fault={fault} />
        {rows && (
          <div class="actions">
            <Button kind="quiet" onClick={() => setJson(false)}>
              Show as rows
            </Button>
          </div>
        )}
      </div>
    );
  return (
    <div class="stack tight rule">
      <datalist id="known-keys">
        {keys.data?.keys.map((key) => (
          <option key={key} value={key} />
        ))}
      </datalist>
      <datalist id="known-events">
        {events.data?.names.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      {rows.rows.map((row, n) => (
        <div key={n} class="rule-row">
          {n === 0 ? (
            <span class="dim">People whose</span>
          ) : (
            <select
              aria-label="Both or either"
              value={rows.op}
              onInput={(event) => change({ ...rows, op: event.currentTarget.value as Rows["op"] })}
            >
              <option value="and">and</option>
              <option value="or">or</option>
            </select>
          )}
          {row.kind === "attribute" ? (
            <AttributeInputs row={row} n={n} set={(next) => set(n, next)} />
          ) : (
            <EventInputs row={row} n={n} set={(next) => set(n, next)} />
          )}
          <Button
            kind="quiet"
            icon="cross"
            label={`Remove condition ${n + 1}`}
            onClick={() => change({ ...rows, rows: rows.rows.filter((_, at) => at !== n) })}
          />
        </div>
      ))}
      {fault && <span class="fault">{fault}</span>}
      <div class="actions">
        <Button icon="plus" onClick={() => change({ ...rows, rows: [...rows.rows, NEW_ATTRIBUTE] })}>
          Attribute
        </Button>
        <Button icon="plus" onClick={() => change({ ...rows, rows: [...rows.rows, NEW_EVENT] })}>
          Event
        </Button>
        <Button kind="quiet" onClick={() => setJson(true)}>
          Show as JSON
        </Button>
      </div>
    </div>
  );
}

function AttributeInputs({ row, n, set }: { row: AttributeRow; n: number; set: (row: Row) => void }) {
  return (
    <>
      <input
        aria-label={`Attribute of condition ${n + 1}`}
        list="known-keys"
        placeholder="attribute"
        value={row.key}
        onInput={(event) => set({ ...row, key: event.currentTarget.value })}
      />
      <select
        aria-label={`Comparison of condition ${n + 1}`}
        value={row.operator}
        onInput={(event) => set({ ...row, operator: event.currentTarget.value })}
      >
        {Object.entries(operators).map(([operator, words]) => (
          <option key={operator} value={operator}>
            {words}
          </option>
        ))}
      </select>
      {row.operator !== "$exists" && (
        <input
          aria-label={`Value of condition ${n + 1}`}
          placeholder="value"
          value={row.value}
          onInput={(event) => set({ ...row, value: event.currentTarget.value })}
        />
      )}
    </>
  );
}

function EventInputs({ row, n, set }: { row: EventRow; n: number; set: (row: Row) => void }) {
  return (
    <>
      <input
        aria-label={`Event of condition ${n + 1}`}
        list="known-events"
        placeholder="event"
        value={row.name}
        onInput={(event) => set({ ...row, name: event.currentTarget.value })}
      />
      <select
        aria-label={`Bound of condition ${n + 1}`}
        value={row.bound}
        onInput={(event) => set({ ...row, bound: event.currentTarget.value as "min" | "max" })}
      >
        <option value="min">happened at least</option>
        <option value="max">happened at most</option>
      </select>
      <input
        aria-label={`Times of condition ${n + 1}`}
        type="number"
        min={0}
        value={row.count}
        onInput={(event) => set({ ...row, count: Number(event.currentTarget.value) })}
      />
      <span class="dim">times in</span>
      <input
        aria-label={`Window of condition ${n + 1}`}
        placeholder="30d"
        value={row.within}
        onInput={(event) => set({ ...row, within: event.currentTarget.value })}
      />
    </>
  );
}
