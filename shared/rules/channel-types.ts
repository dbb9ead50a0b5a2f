// Types, classes and sets of channels, derived from the table.
import { channels } from "./channels.ts";
import type { ContentKind } from "./content-kinds.ts";

type Table = typeof channels;
export type ChannelType = keyof Table;
export type ChannelClass = Table[ChannelType]["class"];
type Address = Table[ChannelType]["address"];
/** How the messages of a class look. */
export type KindOf<C extends ChannelClass> = Extract<Table[ChannelType], { class: C }>["content"]["kind"];
/** The types of channels with one of these addresses. */
type By<A extends Address> = { [T in ChannelType]: Table[T]["address"] extends A ? T : never }[ChannelType];
type PricedChannel = { [T in ChannelType]: Table[T] extends { isPriced: true } ? T : never }[ChannelType];

// The table has no other names.
export const channelTypes = Object.keys(channels) as ChannelType[];

const by = <const A extends Address>(...addresses: readonly A[]): By<A>[] =>
  channelTypes.filter((type): type is By<A> => addresses.some((address) => address === channels[type].address));

export const providedChannels = by("token", "subscription", "email", "phone");
export type ProvidedChannel = (typeof providedChannels)[number];
/** Channels with the address of a device. */
const pushChannels = by("token", "subscription");
/** Channels whose address is in the profile of a subscriber: each has a consent of its own (D-CONSENT). */
export const consentChannels = by("email", "phone");
export type ConsentChannel = (typeof consentChannels)[number];
/** Channels whose provider charges for each message; the others are free, or have no provider. */
export const pricedChannels = channelTypes.filter((type): type is PricedChannel => "isPriced" in channels[type]);

export const hasDevices = (type: ChannelType): type is (typeof pushChannels)[number] =>
  pushChannels.some((pushChannel) => pushChannel === type);
export const hasConsent = (type: ChannelType): type is (typeof consentChannels)[number] =>
  consentChannels.some((consentChannel) => consentChannel === type);

export const classOf = (type: ChannelType): ChannelClass => channels[type].class;

type Platform = Extract<Table[ChannelType], { platform: string }>["platform"];
export const platformOf = (type: ChannelType): Platform | undefined => {
  const facts = channels[type];
  return "platform" in facts ? facts.platform : undefined;
};
/** The platforms on which recipients see messages. */
export const platforms: readonly Platform[] = channelTypes.flatMap((type) => platformOf(type) ?? []);
export const devicePlatforms = pushChannels.map((type) => channels[type].platform);
export const channelOfPlatform = (platform: string): ChannelType | undefined =>
  channelTypes.find((type) => platformOf(type) === platform);

/** In the default order of arbitration (D-ARB). */
export const channelClasses: readonly ChannelClass[] = [
  ...new Set(channelTypes.toSorted((a, b) => channels[a].rank - channels[b].rank).map(classOf)),
];

const kinds = new Map(channelTypes.map((type) => [classOf(type), channels[type].content.kind]));
/** How the messages of a class look. */
export const kindOf = (name: ChannelClass): ContentKind => kinds.get(name)!;
