// Bundled instead of the SDK's event streams, which take 14 KB in every client: we call no operation that streams.
export const eventStreamSerdeProvider = (): undefined => undefined;
export const resolveEventStreamSerdeConfig = <C>(configuration: C): C => configuration;
export function EventStreamSerde(): never {
  throw new Error("Event streams are not part of this bundle (infra/bundle.ts).");
}
