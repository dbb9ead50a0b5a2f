// Why one person did or did not get a send: a sentence, then every condition, met or not.
import type { ComponentChildren } from "preact";
import type { Recipient } from "../../../sdk/src/types.gen.ts";
import { conditionText, valueText } from "../../../shared/rules/clause-words.ts";
import { personName } from "../../app/person-name.ts";
import { useQuery } from "../../app/query.ts";
import { pathTo } from "../../app/router.ts";
import { channelName, explain, reasonText } from "../../app/sentences.ts";
import { momentText, plural } from "../../app/time.ts";
import { Badge } from "../../components/badge.tsx";
import { inWords } from "../../components/field.tsx";
import { Icon } from "../../components/icon.tsx";
import { Loaded } from "../../components/states.tsx";

export function Why({ send, person }: { send: string; person: string }) {
  const profile = useQuery("subscribers.get", [person]);
  const recipient = useQuery("recipients.getNotificationsRecipient", [send, person]);
  const name = profile.data ? personName(profile.data) : "This person";
  return (
    <Loaded query={recipient}>
      {(found) => (
        <div class="stack">
          <p class="verdict">
            <Badge state={found.state} /> <b>{explain(name, found)}</b>{" "}
            <a href={pathTo("people", person)}>Open the profile</a>
          </p>
          <Tree recipient={found} />
        </div>
      )}
    </Loaded>
  );
}

function Condition({ isMet, children }: { isMet: boolean; children: ComponentChildren }) {
  return (
    <li class={isMet ? "met" : "unmet"}>
      <Icon name={isMet ? "check" : "cross"} />
      <span class="unseen">{isMet ? "met: " : "not met: "}</span>
      <span>{children}</span>
    </li>
  );
}

function Tree({ recipient: { attempts, held_out, holdout, split, variant_id, now } }: { recipient: Recipient }) {
  return (
    <>
      <ul class="conditions">
        {holdout.percentage > 0 && (
          <Condition isMet={!held_out}>
            {held_out ? "In" : "Not in"} the control group of {holdout.percentage}%
          </Condition>
        )}
        {split && (
          <Condition isMet>
            Variant {(variant_id ?? "a").toUpperCase()} of a split of {split.percentage}%
          </Condition>
        )}
        {attempts.map((attempt) => (
          <Condition key={`${attempt.channel}${attempt.device_id}`} isMet={attempt.state === "delivered"}>
            {channelName(attempt.channel)}: {attempt.state}
            {attempt.reason && ` (${reasonText(attempt.reason)})`}
            {attempt.attempted_at.length > 0 && `, ${attempt.attempted_at.map((at) => momentText(at)).join(", ")}`}
          </Condition>
        ))}
      </ul>
      {now && (
        <>
          <h3>If it were sent now</h3>
          <Now now={now} />
        </>
      )}
    </>
  );
}

/** A plain value is that very value. */
const wantedText = (condition: unknown): string =>
  typeof condition === "object" && condition !== null && !Array.isArray(condition)
    ? conditionText(condition)
    : `is ${valueText(condition)}`;

const unreachableText = (reason: string | null): string => (reason ? reasonText(reason) : "cannot be reached");

function Now({ now }: { now: NonNullable<Recipient["now"]> }) {
  const { subscriber_filters, topic, channels, quiet_hours, caps } = now;
  return (
    <ul class="conditions">
      {subscriber_filters.map(({ key, condition, value, matches }) => (
        <Condition key={key} isMet={matches}>
          {key} {value === undefined ? "is not known" : `is ${valueText(value)}`}; this send is for people whose {key}{" "}
          {wantedText(condition)}
        </Condition>
      ))}
      {topic && (
        <Condition isMet={topic.reachable}>
          Topic {topic.key}: {topic.choice ? inWords(topic.choice) : `no choice, and without one ${topic.default}`}
        </Condition>
      )}
      {channels.map(({ channel, reachable, reason, consent, devices }) => (
        <Condition key={channel} isMet={reachable}>
          {channelName(channel)}: {reachable ? "can be reached" : unreachableText(reason)}
          {consent && `, ${inWords(consent)}`}
          {devices > 0 && `, ${plural(devices, "device")}`}
        </Condition>
      ))}
      {quiet_hours && (
        <Condition isMet={quiet_hours.until === null}>
          Quiet hours {quiet_hours.start} to {quiet_hours.end} in {quiet_hours.timezone}; it is{" "}
          {quiet_hours.local_time.slice(-5)} there
        </Condition>
      )}
      {caps.map((cap) => (
        <Condition key={JSON.stringify(cap)} isMet={cap.count < cap.max}>
          {cap.count} of {cap.max} {cap.category} messages {cap.per === "day" ? "today" : `this ${cap.per}`}
        </Condition>
      ))}
    </ul>
  );
}
