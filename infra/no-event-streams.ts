// Bundled instead of the SDK's event streams, 14 KB in every client that no operation of ours needs.
export const eventStreamSerdeProvider = (): undefined => undefined;
export const resolveEventStreamSerdeConfig = <C>(configuration: C): C => configuration;
export function EventStreamSerde(): never {
  throw new Error("Event streams are not part of this bundle (infra/bundle.ts).");
}
