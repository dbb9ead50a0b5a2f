// Links to the rejected rows and warnings of an import, and to the files of exports. A link of S3 expires with the
// credentials that signed it, after hours at most. Ours is valid for a day and redirects to a new link of S3 (AMB-88).
import { GetObjectCommand, S3Client } from "@aws-sdk/client-s3";
import { getSignedUrl } from "@aws-sdk/s3-request-presigner";
import { openCursor, sealCursor } from "../contract/paging.ts";
import { DAY, MINUTE, SECOND } from "../kernel/clock.ts";
import { type Capability, type Deps, NO_TENANT, perEnvironment, setting } from "../kernel/deps.ts";
import type { TenantId } from "../kernel/ids.ts";
import { secrets } from "../store/capabilities.ts";
import { platformRead } from "../store/context.ts";
import { exportKey } from "../store/files/exports.ts";
import { rejectedKey, warningsKey } from "../store/files/imports.ts";
import { noSecrets } from "../store/secrets.ts";
import { getWorkspace } from "../store/workspaces/workspaces.ts";

const LINK_MS = DAY;
const FILE_LINK_SECONDS = (5 * MINUTE) / SECOND;
const SCOPES = ["rejected-rows", "import-warnings", "export"] as const;
type LinkScope = (typeof SCOPES)[number];

interface FileLinks {
  /** The URL of the rejected rows of an import, or of the file of an export, valid for 24 hours. */
  urlOf(id: string): Promise<string>;
}

const linksOf = <As extends string>(as: As, scope: LinkScope): Capability<As, FileLinks> => ({
  as,
  env: ["BASE_URL", ...secrets.env],
  grants: secrets.grants,
  open: (deps) => {
    const { root } = secrets.open(deps)(NO_TENANT);
    return (tenant) => ({
      urlOf: async (id) => {
        const { clock } = deps.sandbox ? { clock: deps.sandbox.wall } : deps;
        const until = Math.floor((clock.now() + LINK_MS) / SECOND);
        return `${setting(deps, "BASE_URL")}/r/${sealCursor(await root(), scope, packed({ tenant, id, until }))}`;
      },
    });
  },
});

export const rejectedLinks = /* @__PURE__ */ linksOf("rejectedLinks", "rejected-rows");
export const warningsLinks = /* @__PURE__ */ linksOf("warningsLinks", "import-warnings");
export const exportLinks = /* @__PURE__ */ linksOf("exportLinks", "export");

/**
 * The URL of the file behind a link, valid for five minutes; undefined if the link is not ours or expired, or in a
 * suspended or deleted workspace (ERR-6, ERR-7).
 */
export const openedRejectedLink = /* @__PURE__ */ perEnvironment(
  "openRejected",
  {
    env: ["IMPORTS_BUCKET", ...secrets.env, ...platformRead.env],
    grants: [{ actions: ["s3:GetObject"], on: "imports" }, ...secrets.grants, ...platformRead.grants],
  },
  (deps) => {
    const { root } = secrets.open(deps)(NO_TENANT);
    const platform = platformRead.open(deps)(NO_TENANT);
    return async (token: string): Promise<string | undefined> => {
      const roots = await root().catch(noSecrets);
      for (const scope of roots ? SCOPES : []) {
        const opened = roots && openOrNothing(roots, scope, token);
        if (!opened) continue;
        if (opened.until * SECOND <= deps.clock.now()) return undefined;
        const workspace = await getWorkspace(platform, opened.tenant);
        return workspace?.status === "active" ? fileUrl(deps, scope, opened) : undefined;
      }
      return undefined;
    };
  },
);

/** An import or export of a workspace, both UUIDs, and the second until which its link is valid. */
interface Link {
  tenant: TenantId;
  id: string;
  until: number;
}
const UUID_DIGITS = 32;
const SECOND_DIGITS = 10;

/** Short enough for a parameter of a path. */
const packed = ({ tenant, id, until }: Link): string =>
  Buffer.from(`${tenant}${id}`.replaceAll("-", "") + until.toString(16).padStart(SECOND_DIGITS, "0"), "hex").toString(
    "base64url",
  );

function unpacked(text: string): Link {
  const digits = Buffer.from(text, "base64url").toString("hex");
  const uuidAt = (from: number) =>
    digits.slice(from, from + UUID_DIGITS).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
  return {
    tenant: uuidAt(0) as TenantId,
    id: uuidAt(UUID_DIGITS),
    until: Number.parseInt(digits.slice(2 * UUID_DIGITS), 16),
  };
}

function openOrNothing(roots: Parameters<typeof openCursor>[0], scope: LinkScope, token: string): Link | undefined {
  try {
    // The signature proves that `urlOf` wrote it.
    return unpacked(String(openCursor(roots, scope, token)));
  } catch {
    return undefined;
  }
}

const FILES: Record<LinkScope, { key(tenant: TenantId, id: string): string; name: string }> = {
  "rejected-rows": { key: rejectedKey, name: "rejected" },
  "import-warnings": { key: warningsKey, name: "warnings" },
  export: { key: exportKey, name: "export" },
};

const fileUrl = (deps: Deps, scope: LinkScope, { tenant, id }: Link): Promise<string> =>
  getSignedUrl(
    deps.aws(S3Client),
    new GetObjectCommand({
      Bucket: setting(deps, "IMPORTS_BUCKET"),
      Key: FILES[scope].key(tenant, id),
      ResponseContentDisposition: `attachment; filename="${FILES[scope].name}-${id}.csv"`,
    }),
    { expiresIn: FILE_LINK_SECONDS, signingDate: new Date(deps.clock.now()) },
  );
