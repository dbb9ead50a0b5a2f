// The client for browsers and apps: the endpoints that accept the publishable SDK key, and the live stream.
import { browserRoutes } from "./browser-routes.gen.ts";
import { type LiveStream, openStream, type StreamOptions } from "./stream.ts";
import { credentialHeader, methodsOf, rootOf, type Secret, type Settings } from "./transport.ts";
import type { BrowserEndpoints } from "./types.gen.ts";

export interface BrowserSettings extends Settings {
  sdkKey: Secret;
}

export interface BrowserClient extends BrowserEndpoints {
  /** Opens the subscriber's live stream: `client.stream(id, { onMessage: show })`. It stays open until `close()`. */
  stream(subscriberId: string, options: StreamOptions): LiveStream;
}

/** `createBrowserClient({ baseUrl, sdkKey }).subscribers.upsert({ external_id })` */
export function createBrowserClient({ sdkKey, ...settings }: BrowserSettings): BrowserClient {
  const credentials = { sdk: sdkKey };
  const endpoints = methodsOf<BrowserEndpoints>(browserRoutes, settings, credentials);
  const stream: BrowserClient["stream"] = (subscriberId, options) =>
    openStream(
      {
        root: rootOf(settings),
        fetch: settings.fetch ?? ((...all) => fetch(...all)),
        headers: () => credentialHeader(["sdk"], credentials),
        listInbox: async (signal) =>
          (await endpoints.inbox.listMessages({ subscriber_id: subscriberId }, { signal, maxRetries: 0 })).messages,
      },
      subscriberId,
      options,
    );
  return { ...endpoints, stream };
}
