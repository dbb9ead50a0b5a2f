// The inputs of one condition: of an attribute, or of how often an event happened, and with which properties.
import { useId, useState } from "preact/hooks";
import { Button } from "./button.tsx";
import { DurationInput } from "./duration.tsx";
import { Known, Select } from "./field.tsx";
import { useAttributeValues } from "./known.tsx";
import {
  type AttributeRow,
  type EventRow,
  emptyAttribute,
  frequencies,
  isOfDay,
  operators,
  type Row,
  textOf,
} from "./rule-model.ts";

interface FieldsProps<R extends Row> {
  row: R;
  name: string;
  /** The id of the known names. */
  list?: string;
  onRow: (row: R) => void;
}

export function AttributeFields({
  row,
  name,
  list,
  onRow,
  noun = "Attribute",
}: FieldsProps<AttributeRow> & { noun?: string }) {
  const needsValue = row.operator !== "has" && row.operator !== "lacks";
  return (
    <>
      <input
        aria-label={`${noun} ${name}`}
        list={list}
        placeholder={noun === "Attribute" ? "such as plan" : "such as total"}
        value={row.key}
        onInput={(event) => onRow({ ...row, key: event.currentTarget.value })}
      />
      <Select
        label={`Comparison ${name}`}
        value={row.operator}
        options={operators}
        onInput={(operator) =>
          onRow({ ...row, operator, ...(isOfDay(operator) !== isOfDay(row.operator) && { value: "" }) })
        }
      />
      {needsValue && <ValueInput row={row} name={name} onRow={onRow} isKnown={noun === "Attribute"} />}
    </>
  );
}

/** Offers what people have there, read once the input is entered. */
function ValueInput({ row, name, onRow, isKnown }: FieldsProps<AttributeRow> & { isKnown: boolean }) {
  const id = useId();
  const [isEntered, setEntered] = useState(false);
  const isDay = isOfDay(row.operator);
  const values = useAttributeValues(row.key, isKnown && isEntered && !isDay);
  return (
    <>
      <input
        {...({ type: isDay ? "date" : "text" } as object)}
        aria-label={`Value ${name}`}
        list={isDay ? undefined : id}
        placeholder={row.operator === "$in" || row.operator === "$nin" ? "such as free, pro" : "such as pro"}
        title={isDay ? undefined : '5 and true are a number and a boolean; "5" in quotes is text.'}
        value={row.value}
        onFocus={() => setEntered(true)}
        onInput={(event) => onRow({ ...row, value: event.currentTarget.value })}
      />
      <Known id={id} values={values.map((value) => textOf(value))} />
    </>
  );
}

export function EventFields({ row, name, list = "", onRow }: FieldsProps<EventRow>) {
  const { where } = row;
  const change = (n: number, next: AttributeRow) =>
    onRow({ ...row, where: where.map((old, i) => (i === n ? next : old)) });
  return (
    <>
      <input
        aria-label={`Event ${name}`}
        list={list}
        placeholder="such as order_placed"
        value={row.name}
        onInput={(event) => onRow({ ...row, name: event.currentTarget.value })}
      />
      <Select
        label={`How often ${name}`}
        value={row.frequency}
        options={frequencies}
        onInput={(frequency) => onRow({ ...row, frequency, times: row.times || "1" })}
      />
      {row.frequency !== "never" && <Times row={row} name={name} onRow={onRow} />}
      <span class="within">
        within
        <DurationInput
          label={`Within ${name}`}
          placeholder="ever"
          value={row.within}
          onInput={(within) => onRow({ ...row, within })}
        />
      </span>
      {where.map((one, n) => (
        <div class="condition where" key={n}>
          <span>{n === 0 ? "where" : "and"}</span>
          <AttributeFields row={one} name={`${name}, ${n + 1}`} noun="Property" onRow={(next) => change(n, next)} />
          <Button
            kind="quiet"
            icon="cross"
            label={`Remove property ${name}, ${n + 1}`}
            onClick={() => onRow({ ...row, where: where.filter((_, i) => i !== n) })}
          />
        </div>
      ))}
      <Button kind="quiet" icon="plus" adds onClick={() => onRow({ ...row, where: [...where, emptyAttribute()] })}>
        Property
      </Button>
    </>
  );
}

function Times({ row, name, onRow }: FieldsProps<EventRow>) {
  return (
    <>
      <Count label={`Times ${name}`} value={row.times} onInput={(times) => onRow({ ...row, times })} />
      {row.frequency === "between" && (
        <>
          <span>and</span>
          <Count label={`At most ${name}`} value={row.most} onInput={(most) => onRow({ ...row, most })} />
        </>
      )}
      <span>{row.frequency !== "between" && row.times === "1" ? "time" : "times"}</span>
    </>
  );
}

const Count = ({ label, value, onInput }: { label: string; value: string; onInput: (text: string) => void }) => (
  <input
    class="short"
    type="number"
    min={1}
    aria-label={label}
    value={value}
    onInput={(event) => onInput(event.currentTarget.value)}
  />
);
