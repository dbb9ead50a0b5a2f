// When a schedule runs: chosen in words, or written as a cron expression.
import { useState } from "preact/hooks";
import { SelectField, TextField } from "../../components/field.tsx";

const REPEATS = {
  day: "Every day",
  weekdays: "Monday to Friday",
  week: "Every week",
  month: "Every month",
  cron: "By a cron expression",
};

/** As cron counts them, from Monday on. */
const WEEKDAYS = [
  { value: "1", label: "Monday" },
  { value: "2", label: "Tuesday" },
  { value: "3", label: "Wednesday" },
  { value: "4", label: "Thursday" },
  { value: "5", label: "Friday" },
  { value: "6", label: "Saturday" },
  { value: "0", label: "Sunday" },
];

interface Choice {
  repeats: keyof typeof REPEATS;
  weekday: string;
  /** The day of a month. */
  day: string;
  /** `09:00`; empty while it is typed. */
  time: string;
}

const START: Choice = { repeats: "week", weekday: "1", day: "1", time: "09:00" };

function cronOf({ repeats, weekday, day, time }: Choice): string {
  const [hour, minute] = time.split(":").map(Number);
  if (minute === undefined) return "";
  const days = { day: "* * *", weekdays: "* * 1-5", week: `* * ${weekday}`, month: `${day} * *`, cron: "* * *" };
  return `${minute} ${hour} ${days[repeats]}`;
}

/** What a new schedule begins with: every Monday at 09:00. */
export const START_CRON = cronOf(START);

interface TimesProps {
  /** A cron expression. */
  value: string;
  onInput: (value: string) => void;
  fault: string | undefined;
}

export function ScheduleTimes({ value, onInput, fault }: TimesProps) {
  const [choice, setChoice] = useState(START);
  const { repeats, weekday, day, time } = choice;
  const choose = (part: Partial<Choice>) => {
    const next = { ...choice, ...part };
    setChoice(next);
    // The expression that is written goes on from what was chosen.
    if (next.repeats !== "cron") onInput(cronOf(next));
  };
  const isWritten = repeats === "cron";
  return (
    <>
      <div class="row">
        <SelectField
          label="Repeats"
          value={repeats}
          options={REPEATS}
          fault={isWritten ? undefined : fault}
          onInput={(next) => choose({ repeats: next })}
        />
        {repeats === "week" && (
          <SelectField label="On" value={weekday} options={WEEKDAYS} onInput={(next) => choose({ weekday: next })} />
        )}
        {repeats === "month" && (
          <TextField
            label="On day"
            type="number"
            min={1}
            max={31}
            value={day}
            onInput={(next) => choose({ day: next })}
            required
          />
        )}
        {!isWritten && (
          <TextField label="At" type="time" value={time} onInput={(next) => choose({ time: next })} required />
        )}
      </div>
      {isWritten && (
        <TextField
          label="Cron expression"
          value={value}
          onInput={onInput}
          fault={fault}
          hint="Minute, hour, day of the month, month, weekday: 0 9 * * 1 is every Monday at 09:00."
          code
          required
        />
      )}
    </>
  );
}
