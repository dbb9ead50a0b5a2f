// How a person can be reached: what a message now would use, by the preview of the service, and each channel with its reason.
import type { NotificationPreview, SubscriberProfile } from "../../../sdk/src/types.gen.ts";
import { type ChannelType, classOf, consentChannels } from "../../../shared/rules/channel-types.ts";
import { useAction } from "../../app/action.ts";
import { readAttributes } from "../../app/person-name.ts";
import { useQuery } from "../../app/query.ts";
import { pathTo } from "../../app/router.ts";
import { channelName, reasonText } from "../../app/sentences.ts";
import { listed, momentText, plural } from "../../app/time.ts";
import { Address, Card, Time } from "../../components/page.tsx";
import { useUsableChannels } from "../../components/pickers.tsx";
import { Failure, Loaded, Skeleton } from "../../components/states.tsx";
import { Opt } from "./opt.tsx";

export function Reach({ profile }: { profile: SubscriberProfile }) {
  const { id, consents } = profile;
  const create = useAction("subscribers.createConsent");
  const usable = useUsableChannels();
  const preview = useQuery(
    "recipients.previewNotifications",
    [
      {
        subscriberIds: [id],
        title: "-",
        body: "-",
        category: "marketing",
        channel_ids: usable.map((channel) => channel.id),
      },
    ],
    { when: usable.length > 0 },
  );
  return (
    <Card title="Channels">
      {usable.length > 0 && (
        <Loaded query={preview} skeleton={<Skeleton rows={1} />}>
          {(found) => <p>{sentenceOf(found)}</p>}
        </Loaded>
      )}
      <ul class="stack tight">
        {consentChannels.map((channel) => {
          const found = consents.find((one) => one.channel === channel);
          return (
            <Opt
              key={channel}
              name={channelName(channel)}
              status={found?.status}
              since={found && <Time at={found.consented_at} />}
              action={create}
              record={(status) => create.run(id, { channel, status, source: "console" })}
            >
              <Where channel={channel} profile={profile} />
            </Opt>
          );
        })}
      </ul>
      {create.error && <Failure error={create.error} />}
      <p class="hint">
        Record only what the person told you. <a href={pathTo("people", `${id}/consents`)}>Each change stays</a> in the
        history.
      </p>
    </Card>
  );
}

/** What a marketing message that is sent now does. */
function sentenceOf({ samples: [sample], skip_reasons, missed_by_class }: NotificationPreview): string {
  const [reason] = Object.keys(skip_reasons);
  if (!sample) return `A marketing message sent now would not go out${reason ? `: ${reasonText(reason)}` : ""}.`;
  const names = [...new Set(sample.channels)].map(channelName);
  const by = names.length > 0 ? ` by ${listed(names)}` : "";
  const missed = Object.entries(missed_by_class).flatMap(([name, reasons]) =>
    Object.keys(reasons).map((reason) => `${channelName(name)} (${reasonText(reason)})`),
  );
  const end = `${by}${missed.length > 0 ? `, and not by ${listed(missed)}` : ""}.`;
  return sample.deferred_until
    ? `A marketing message sent now would wait for the end of quiet hours, ${momentText(sample.deferred_until)}, and go out${end}`
    : `A marketing message sent now would go out${end}`;
}

interface WhereProps {
  channel: ChannelType;
  profile: SubscriberProfile;
}

/** The address of a channel; a suppression of it is looked up where there is one. */
function Where({ channel, profile: { email, attributes, devices, consents } }: WhereProps) {
  const kind = classOf(channel);
  const isSuppressed = consents.some((one) => one.channel === channel && one.status === "suppressed");
  const { phone } = readAttributes(attributes);
  if (kind === "in_app") return null;
  if (kind === "push" || kind === "web_push") {
    const all = devices.filter(({ platform }) => platform === channel);
    const open = all.filter(({ status, push_enabled }) => status === "active" && push_enabled);
    return (
      <small class="where dim">
        {all.length === 0
          ? "No device"
          : `${plural(open.length, "device")} can receive it${open.length < all.length ? ` of ${all.length}` : ""}`}
      </small>
    );
  }
  const number = typeof phone === "string" ? phone : undefined;
  const [address, missing] = kind === "email" ? [email, "No email address"] : [number, "No phone number"];
  return (
    <small class="where dim">
      {address ? <Address of={address} /> : missing}
      {address && isSuppressed && <Suppressed address={address} />}
    </small>
  );
}

const REASONS = {
  bounce: "it does not exist",
  complaint: "its owner complained",
  imported: "it was imported as suppressed",
  manual: "a colleague suppressed it",
} as const;

function Suppressed({ address }: { address: string }) {
  const { data } = useQuery("suppressions.list", [{ address, limit: 1 }]);
  const [found] = data?.items ?? [];
  return (
    <span class="block">
      Suppressed{found && `: ${REASONS[found.reason]}`}
      {found?.note && ` (${found.note})`}
      {found && (
        <>
          {", "}
          <Time at={found.suppressed_at} />
        </>
      )}
      . <a href={pathTo("suppressions", "", { q: address })}>Look at it</a>
    </span>
  );
}
