// Version 2 has no types of its own.
declare module "eventsource-2" {
  class EventSource {
    constructor(url: string);
    addEventListener(type: "message", listener: (event: { data: string }) => void): void;
    close(): void;
  }
  export = EventSource;
}
