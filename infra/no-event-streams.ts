// Bundled in place of the SDK's event streams, 14 KB that every client brings along: no operation we call has one.
export const eventStreamSerdeProvider = (): undefined => undefined;
export const resolveEventStreamSerdeConfig = <C>(configuration: C): C => configuration;
export function EventStreamSerde(): never {
  throw new Error("Event streams are not part of this bundle (infra/bundle.ts).");
}
