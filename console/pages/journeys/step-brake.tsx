// The brake of a send step (F21): its limits in the form, and what it has counted in each version.
import type { JourneyBrake } from "../../../sdk/src/types.gen.ts";
import { useQuery } from "../../app/query.ts";
import { channelName } from "../../app/sentences.ts";
import { number, plural, share } from "../../app/time.ts";
import { Badge } from "../../components/badge.tsx";
import { Check } from "../../components/field.tsx";
import { type Safety, SafetyFields } from "../../components/safety.tsx";

interface FormProps {
  safety: Safety | undefined;
  onInput: (safety: Safety | undefined) => void;
  faultAt: (field: string) => string | undefined;
}

export function BrakeForm({ safety, onInput, faultAt }: FormProps) {
  return (
    <>
      <Check
        label="Brake: the step halts by itself"
        note="If its messages go wrong, the people wait at the step until you decide."
        checked={safety !== undefined}
        onInput={(is) => onInput(is ? {} : undefined)}
      />
      {safety && (
        <SafetyFields
          what="step"
          safety={safety}
          onInput={onInput}
          faultAt={(name) => faultAt(`safety.${name}`)}
          empty="Empty fields use the workspace default."
        />
      )}
    </>
  );
}

/** What the brakes of a step have counted, the newest version first. */
export function BrakeFigures({ journey, step }: { journey: string; step: string }) {
  const brakes = useQuery("brakes.list", [journey]);
  const found = brakes.data?.items.filter((one) => one.step === step) ?? [];
  if (found.length === 0) return null;
  return (
    <div class="stack tight">
      <h3>Brake</h3>
      {found
        .toSorted((a, b) => b.version - a.version)
        .map((brake) => (
          <p key={brake.version}>
            {brake.status !== "open" && <Badge state={brake.status} />} {figuresOf(brake)}
          </p>
        ))}
    </div>
  );
}

function figuresOf({ version, status, safety, tried, errors, ...counts }: JourneyBrake): string {
  const channels = Object.entries(tried).map(([channel, count]) => {
    const failed = errors[channel] ?? 0;
    return `${channelName(channel)}: ${number(failed)} of the last ${number(count)} refused or unanswered (${share(failed, count)})`;
  });
  const { under_way, bounced, complained, opted_out } = counts;
  const mails = `${plural(bounced, "bounce")}, ${plural(complained, "complaint")}, ${plural(opted_out, "opt-out")}`;
  const canceled =
    status === "canceled" ? " Anyone who arrives here leaves the journey, until a new version is active." : "";
  const off = safety ? "" : " It is switched off.";
  const tries = channels.length > 0 ? channels.join("; ") : "nothing tried yet";
  return `Version ${version}: ${tries}; ${mails}; ${number(under_way)} under way.${off}${canceled}`;
}
