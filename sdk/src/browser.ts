// The client for browsers and apps: the endpoints that accept the publishable SDK key, and the live stream.
import { browserRoutes } from "./browser-routes.gen.ts";
import { stamped, withKeys } from "./events.ts";
import { type LiveStream, openStream, type StreamOptions } from "./stream.ts";
import { credentialHeader, methodsOf, requiredId, rootOf, type Secret, type Settings } from "./transport.ts";
import type { BrowserEndpoints } from "./types.gen.ts";

export interface BrowserSettings extends Settings {
  sdkKey: Secret;
  /** The signed external id of the user, from your backend: for workspaces that demand it. */
  userHash?: Secret;
}

export interface BrowserClient extends BrowserEndpoints {
  /** Opens the subscriber's live stream: `client.stream(id, { onMessage: show })`. It stays open until `close()`. */
  stream(subscriberId: string, options: StreamOptions): LiveStream;
  /**
   * The signed ids in the header `X-User-Hash` of its calls; undefined if there are none. For callers that do not use
   * this client.
   */
  signedIds(): Promise<string | undefined>;
}

/** `createBrowserClient({ baseUrl, sdkKey }).subscribers.upsert({ external_id })` */
export function createBrowserClient({ sdkKey, userHash, ...settings }: BrowserSettings): BrowserClient {
  const credentials = { sdk: sdkKey };
  let ownHash: string | undefined;
  const signedIds = async (): Promise<string | undefined> => {
    const usersHash = typeof userHash === "function" ? await userHash() : userHash;
    const known = [usersHash, ownHash].filter((hash) => hash !== undefined);
    return known.length > 0 ? known.join(",") : undefined;
  };
  const hashes = async (): Promise<Record<string, string>> => {
    const signed = await signedIds();
    return signed === undefined ? {} : { "x-user-hash": signed };
  };

  const endpoints = methodsOf<BrowserEndpoints>(browserRoutes, settings, credentials, hashes);
  const { upsert } = endpoints.subscribers;
  endpoints.subscribers.upsert = async (...args) => {
    const subscriber = await upsert(...args);
    // This hash signs the subscriber's id, which the other calls name.
    ownHash = subscriber.user_hash ?? ownHash;
    return subscriber;
  };
  const { create } = endpoints.events;
  endpoints.events.create = (body, ...more) => create(stamped(withKeys(body)), ...more);

  const stream: BrowserClient["stream"] = (subscriberId, options) =>
    openStream(
      {
        root: rootOf(settings),
        fetch: settings.fetch ?? ((...all) => fetch(...all)),
        headers: async () => ({ ...(await credentialHeader(["sdk"], credentials)), ...(await hashes()) }),
        listInbox: async (signal) =>
          (await endpoints.inbox.listMessages({ subscriber_id: subscriberId }, { signal, maxRetries: 0 })).messages,
      },
      requiredId("stream", "subscriberId", subscriberId),
      options,
    );

  return { ...endpoints, stream, signedIds };
}
