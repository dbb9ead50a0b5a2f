// The links of mails: the sender makes them, and public routes open them. A signed token is the only credential.
import { looksLikeMailToken, type MailToken, openMailToken, sealMailToken } from "../contract/mail-tokens.ts";
import { NO_TENANT, perEnvironment, setting } from "../kernel/deps.ts";
import type { TenantId } from "../kernel/ids.ts";
import { secrets } from "./capabilities.ts";
import { type Store, storeWrite } from "./context.ts";
import { bindAnywhere } from "./sandbox/sandbox.ts";
import { noSecrets } from "./secrets.ts";

const paths = { unsubscribe: "u", confirm: "i", open: "o", click: "c" } as const satisfies Record<
  MailToken["kind"],
  string
>;

/**
 * The address of a link. The preference page takes the token of the link to unsubscribe, so that the page to unsubscribe
 * can lead there.
 */
export type MailLinks = (token: MailToken, page?: typeof PREFERENCES) => string;
export const PREFERENCES = "p";

export const mailLinks = /* @__PURE__ */ perEnvironment(
  "mailLinks",
  { env: ["BASE_URL", ...secrets.env], grants: secrets.grants },
  (deps) => {
    const { root } = secrets.open(deps)(NO_TENANT);
    return async (): Promise<MailLinks> => {
      const { cursorKey } = await root();
      const origin = setting(deps, "BASE_URL");
      return (token, page) => `${origin}/${page ?? paths[token.kind]}/${sealMailToken(cursorKey, token)}`;
    };
  },
);

type OpenedLink<K extends MailToken["kind"]> = { store: Store; link: Extract<MailToken, { kind: K }> };

/** The content of a link, with the store of the workspace that it names; undefined for an invalid token. */
export type MailLinkOpener = <K extends MailToken["kind"]>(
  kind: K,
  token: string,
) => Promise<OpenedLink<K> | undefined>;

export const openedMailLink = /* @__PURE__ */ perEnvironment(
  "openLink",
  { env: [...storeWrite.env, ...secrets.env], grants: [...storeWrite.grants, ...secrets.grants] },
  (deps): MailLinkOpener => {
    const { root } = secrets.open(deps)(NO_TENANT);
    const storeOf = bindAnywhere(deps, storeWrite);
    return async (kind, token) => {
      if (!looksLikeMailToken(kind, token)) return undefined;
      const roots = await root().catch(noSecrets);
      const link = roots && openMailToken(roots.cursorKey, kind, token);
      return link && { store: await storeOf(link.tenant as TenantId), link };
    };
  },
);
